import type { LogOrigin } from "../ports.js";
import { AWKWARD_NAMES, check, same } from "./port-laws-check.js";
import type { PortLaw, PortWorld } from "./port-laws-world.js";

async function putAll(world: PortWorld, key: string, texts: readonly string[]): Promise<number[]> {
  const seqs: number[] = [];
  for (const text of texts) seqs.push(await world.putMail(key, "in", text));
  return seqs;
}

async function textsOf(world: PortWorld, key: string, origin: LogOrigin): Promise<string[]> {
  return (await world.mail.read(key, origin, 1, 100)).map((item) => item.text);
}

const gone = (world: PortWorld, seq: number) => async (): Promise<boolean> => !(await world.mail.waiting(seq));

export const MAIL_LAWS: readonly PortLaw[] = [
  {
    title: "K2 mail is read in the order of the log, each with its sequence, origin, time and text",
    run: async (world) => {
      const key = world.keyOf("mail-order");
      const texts = ["one", "", "北京 😀", "x".repeat(100_000)];
      const seqs = await putAll(world, key, texts);
      const items = await world.mail.read(key, "in", 1, 100);
      same(
        items.map((item) => item.seq),
        seqs,
        "sequences",
      );
      same(
        items.map((item) => item.text),
        texts,
        "texts",
      );
      check(
        items.every((item) => item.origin === "in"),
        "an item of another origin",
      );
      const now = world.now();
      check(
        items.every((item) => Number.isInteger(item.at) && Math.abs(now - item.at) < 60_000),
        `an item's time is not about now (${now}): ${items.map((item) => item.at).join(", ")}`,
      );
    },
  },
  {
    title: "K2 an empty mailbox reads as an empty list",
    run: async (world) => {
      same(await world.mail.read(world.keyOf("mail-none"), "in", 1, 10), [], "the mailbox");
      same(await world.mail.read(world.keyOf("mail-none"), "ops", 999_999_999, 10), [], "behind its end");
    },
  },
  {
    title: "K2 reading begins at `from` and ends at `limit`",
    run: async (world) => {
      const key = world.keyOf("mail-range");
      const seqs = await putAll(world, key, ["a", "b", "c", "d", "e"]);
      const read = async (from: number, limit: number): Promise<number[]> =>
        (await world.mail.read(key, "in", from, limit)).map((item) => item.seq);
      same(await read(0, 100), seqs, "from 0");
      same(await read(seqs[2] ?? 0, 100), seqs.slice(2), "from the third");
      same(await read((seqs[2] ?? 0) + 1, 100), seqs.slice(3), "from behind the third");
      same(await read(seqs[1] ?? 0, 2), seqs.slice(1, 3), "two from the second");
      same(await read((seqs[4] ?? 0) + 1, 5), [], "from behind the last");
    },
  },
  {
    title: "K2 settled mail is skipped, and what is left keeps its order",
    run: async (world) => {
      const key = world.keyOf("mail-skip");
      const seqs = await putAll(world, key, ["a", "b", "c", "d"]);
      for (const n of [0, 2]) {
        const seq = seqs[n] ?? 0;
        await world.settle(seq);
        await world.until(gone(world, seq));
      }
      await world.until(async () => (await textsOf(world, key, "in")).length === 2);
      same(await textsOf(world, key, "in"), ["b", "d"], "the mailbox");
    },
  },
  {
    title: "K2 only the literal subject is read: other origins and keys that look alike are not seen",
    run: async (world) => {
      const names = AWKWARD_NAMES.map((name) => `mail ${name}`);
      for (const name of names) {
        await world.putMail(world.keyOf(name), "in", `in ${name}`);
        await world.putMail(world.keyOf(name), "ops", `ops ${name}`);
        await world.putMail(world.keyOf(name), "work", "work");
        await world.putMail(world.keyOf(name), "self", "self");
      }
      for (const name of names) {
        same(await textsOf(world, world.keyOf(name), "in"), [`in ${name}`], `in of ${name}`);
        same(await textsOf(world, world.keyOf(name), "ops"), [`ops ${name}`], `ops of ${name}`);
      }
    },
  },
  {
    title: "K3 a bell waits until it is settled, then it is gone; of no other origin either",
    run: async (world) => {
      const key = world.keyOf("mail-waiting");
      for (const origin of ["in", "ops", "work", "self"] as const) {
        const seq = await world.putMail(key, origin, origin);
        check(await world.mail.waiting(seq), `the bell of ${origin} mail must be there at once`);
        await world.ring(seq);
        check(await world.mail.waiting(seq), `the bell of ${origin} mail must outlast its delivery`);
        await world.settle(seq);
        await world.until(gone(world, seq));
      }
      check(!(await world.mail.waiting(2_000_000_000)), "a bell that never was is not there");
    },
  },
  {
    title: "K1 no two bells share a number, whatever their origin, and the log has one identity",
    run: async (world) => {
      const key = world.keyOf("mail-numbers");
      const identity = await world.mail.identity();
      check(identity !== "", "an identity must not be empty");
      const seqs: number[] = [];
      for (const origin of ["in", "ops", "work", "self", "self", "in"] as const) {
        seqs.push(await world.putMail(key, origin, origin));
      }
      check(new Set(seqs).size === seqs.length, `numbers repeat: ${seqs.join(", ")}`);
      check(
        seqs.every((seq) => Number.isSafeInteger(seq) && seq > 0),
        `no safe numbers: ${seqs.join(", ")}`,
      );
      same(await world.mail.identity(), identity, "the identity, asked again");
    },
  },
  {
    title: "K7 a bell carries its key and its mail as the log has it",
    run: async (world) => {
      const key = world.keyOf("mail-bell 北京");
      const seq = await world.putMail(key, "ops", "ops 😀");
      const bell = await world.ring(seq);
      const [item] = await world.mail.read(key, "ops", 1, 1);
      same([bell.key, bell.item], [key, item], "the bell");
      const work = await world.ring(await world.putMail(key, "work", "a result"));
      same([work.item.origin, work.item.text], ["work", "a result"], "mail without a log");
    },
  },
  {
    title: "K7 a bell that is naked rings again at once, marked as redelivered",
    run: async (world) => {
      const key = world.keyOf("mail-again");
      const seq = await world.putMail(key, "in", "again");
      const first = await world.ring(seq);
      check(!first.redelivered, "a first delivery is no redelivery");
      const nakedAt = world.now();
      first.nak(0);
      const second = await world.ring(seq);
      check(world.now() - nakedAt < 3_000, "a nak without a delay must ring again at once");
      check(second !== first && second.redelivered, "the second delivery must be marked");
      second.ack();
      await world.until(gone(world, seq));
    },
  },
];
