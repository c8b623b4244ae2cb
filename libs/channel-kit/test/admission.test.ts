import { StreamFull } from "@troupe/jetstream";
import { expect, it } from "vitest";
import { Admission } from "../src/index.js";

const MIB = 1024 * 1024;

function admission(levels: Record<string, number>) {
  const refused: string[] = [];
  const read = async (buckets: readonly string[]) => {
    if (levels.away !== undefined) throw new Error("away");
    return buckets.map((bucket) => ({ bucket, bytes: levels[bucket] ?? 0, maxBytes: 1024 * MIB }));
  };
  return { refused, one: new Admission({ levels: read, stores: { refused: (store) => refused.push(store) } }) };
}

it("takes nothing new in while states or pieces have less room than what was accepted may need", async () => {
  for (const bucket of ["sessions", "segments"]) {
    const levels: Record<string, number> = { [bucket]: 1007 * MIB };
    const { one, refused } = admission(levels);
    await one.look();
    one.check({ repeatable: false });
    levels[bucket] = 1009 * MIB;
    await one.look();
    expect(() => one.check({ repeatable: false })).toThrow(StreamFull);
    expect(refused).toEqual([bucket]);
    levels[bucket] = 1000 * MIB;
    await one.look();
    one.check({ repeatable: false });
  }
});

it("refuses what may be repeated when it could not be told from its repetition, and nothing else", async () => {
  const { one } = admission({ inbound: 1024 * MIB });
  await one.look();
  one.check({ repeatable: false });
  expect(() => one.check({ repeatable: true })).toThrow("(inbound) is full: raise retention.inbound.maxBytes");
});

it("goes by what it knew last while NATS is away", async () => {
  const levels: Record<string, number> = { sessions: 1024 * MIB };
  const { one } = admission(levels);
  await one.look();
  levels.away = 1;
  await one.look();
  expect(() => one.check({ repeatable: false })).toThrow(StreamFull);
});
