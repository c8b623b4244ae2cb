import type { Bell } from "../ports.js";
import { check, same } from "./port-laws-check.js";
import type { PortLaw } from "./port-laws-world.js";

export const OWNER_LAWS: readonly PortLaw[] = [
  {
    title: "K7 an offer to an owner whose process is gone is answered by silence",
    run: async (world) => {
      const bell = await world.ring(await world.putMail(world.keyOf("owner-none"), "in", "hello"));
      same(await world.owner.offer("nobody-1", bell), "silent", "the offer");
      check(await world.mail.waiting(bell.item.seq), "the bell must still be there");
      bell.ack();
    },
  },
  {
    title: "K7 an owner that does not take the bell leaves it to who offered it",
    run: async (world) => {
      const asked: string[] = [];
      const stop = await world.serve("law-decliner", (owner) => {
        asked.push(owner);
        return false;
      });
      const bell = await world.ring(await world.putMail(world.keyOf("owner-declined"), "in", "hello"));
      same(await world.owner.offer("law-decliner-7", bell), "declined", "the offer");
      same(asked, ["law-decliner-7"], "the owner asked for");
      check(await world.mail.waiting(bell.item.seq), "the bell must still be there");
      bell.ack();
      await stop();
    },
  },
  {
    title: "K7 a taken bell reaches the owner with all it carries, and the owner's ack settles it",
    run: async (world) => {
      const taken: Bell[] = [];
      const stop = await world.serve("law-taker", (_owner, bell) => {
        taken.push(bell);
        return true;
      });
      for (const origin of ["in", "ops", "work", "self"] as const) {
        const key = world.keyOf("owner-taken 北京");
        const text = `${origin} "quoted"\n😀`;
        const bell = await world.ring(await world.putMail(key, origin, text));
        same(await world.owner.offer("law-taker-2", bell), "taken", `the offer of ${origin} mail`);
        const got = taken.at(-1);
        same([got?.key, got?.item, got?.redelivered], [bell.key, bell.item, bell.redelivered], "the taken bell");
        check(await world.mail.waiting(bell.item.seq), "taking is not settling");
        got?.working();
        got?.ack();
        await world.until(async () => !(await world.mail.waiting(bell.item.seq)));
      }
      await stop();
    },
  },
  {
    title: "K7 a process that has stopped serving is silent again",
    run: async (world) => {
      const stop = await world.serve("law-leaver", () => true);
      await stop();
      const bell = await world.ring(await world.putMail(world.keyOf("owner-left"), "in", "hello"));
      same(await world.owner.offer("law-leaver-1", bell), "silent", "the offer");
      bell.ack();
    },
  },
];
