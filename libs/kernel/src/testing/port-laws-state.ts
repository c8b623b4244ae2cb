import { AWKWARD_NAMES, check, same } from "./port-laws-check.js";
import type { PortLaw, PortWorld } from "./port-laws-world.js";

/** Writes and gives the revision; throws when the write is refused. */
async function stored(world: PortWorld, key: string, text: string, revision: number): Promise<number> {
  const outcome = await world.state.write(key, text, revision);
  if (outcome.kind !== "stored") throw new Error(`a write on the newest revision ${revision} was ${outcome.kind}`);
  return outcome.revision;
}

export const STATE_LAWS: readonly PortLaw[] = [
  {
    title: "K1 an entry that was never written is null, from any and from the leader",
    run: async (world) => {
      const key = world.keyOf("state-none");
      same(await world.state.read(key, "any"), null, "read from any");
      same(await world.state.read(key, "leader"), null, "read from the leader");
    },
  },
  {
    title: "K1 an entry is created once: the second create is refused and changes nothing",
    run: async (world) => {
      const key = world.keyOf("state-create");
      const revision = await stored(world, key, "first", 0);
      check(revision > 0, `a revision must be over 0, found ${revision}`);
      same(await world.state.write(key, "second", 0), { kind: "refused" }, "the second create");
      same(await world.state.read(key, "leader"), { revision, text: "first" }, "the entry");
    },
  },
  {
    title: "K1 of creates at the same time exactly one is stored",
    run: async (world) => {
      const key = world.keyOf("state-race");
      const texts = Array.from({ length: 8 }, (_, n) => `racer ${n}`);
      const outcomes = await Promise.all(texts.map((text) => world.state.write(key, text, 0)));
      const winners = texts.filter((_, n) => outcomes[n]?.kind === "stored");
      check(winners.length === 1, `exactly one create must win, found ${winners.length}`);
      same((await world.state.read(key, "leader"))?.text, winners[0], "the entry");
    },
  },
  {
    title: "K1 a write on a stale or a future revision is refused and leaves the entry as it is",
    run: async (world) => {
      const key = world.keyOf("state-stale");
      const first = await stored(world, key, "one", 0);
      const second = await stored(world, key, "two", first);
      for (const revision of [0, first, second + 1_000_000]) {
        same(
          await world.state.write(key, "late", revision),
          { kind: "refused" },
          `write on ${revision}, newest ${second}`,
        );
      }
      same(await world.state.read(key, "leader"), { revision: second, text: "two" }, "the entry");
    },
  },
  {
    title: "K3 revisions of a key grow with every write, whatever is written elsewhere",
    run: async (world) => {
      const key = world.keyOf("state-grow");
      const other = world.keyOf("state-grow-other");
      let revision = 0;
      let otherRevision = 0;
      for (let n = 0; n < 10; n += 1) {
        const next = await stored(world, key, `text ${n}`, revision);
        check(next > revision, `revision ${next} does not follow ${revision}`);
        revision = next;
        otherRevision = await stored(world, other, `text ${n}`, otherRevision);
      }
    },
  },
  {
    title: "K4 a read from the leader sees the last write, also one of a refused writer's rival",
    run: async (world) => {
      const key = world.keyOf("state-fresh");
      let revision = 0;
      for (let n = 0; n < 20; n += 1) {
        revision = await stored(world, key, `text ${n}`, revision);
        same(await world.state.read(key, "leader"), { revision, text: `text ${n}` }, "the entry just written");
      }
    },
  },
  {
    title: "K1 an entry comes back as it was written: empty, long, and in any script",
    run: async (world) => {
      const texts = ["", '{"text":"北京 😀 \\u0000 é"}', "line\r\nline\u2028", "x".repeat(200_000)];
      for (const [n, text] of texts.entries()) {
        const key = world.keyOf(`state-text-${n}`);
        const revision = await stored(world, key, text, 0);
        for (const from of ["any", "leader"] as const) {
          const entry = await world.state.read(key, from);
          check(entry?.revision === revision && entry.text === text, `text ${n} came back otherwise from ${from}`);
        }
      }
    },
  },
  {
    title: "K1 keys of all shapes stay apart",
    run: async (world) => {
      const keys = AWKWARD_NAMES.map((name) => world.keyOf(`state ${name}`));
      for (const [n, key] of keys.entries()) await stored(world, key, `entry ${n}`, 0);
      for (const [n, key] of keys.entries()) {
        same((await world.state.read(key, "leader"))?.text, `entry ${n}`, `entry of ${AWKWARD_NAMES[n]}`);
      }
    },
  },
];
