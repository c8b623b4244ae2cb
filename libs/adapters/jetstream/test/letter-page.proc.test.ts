import type { DeadKind, SessionKey } from "@troupe/contracts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { wireOf } from "../src/bus.js";
import { type Bus, deadLetters, type LetterQuery } from "../src/index.js";
import { letterText, putDead } from "./letter-fixture.js";
import { keyOf, type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

/** DEAD with gaps of all sizes, and letters of a few sessions of which some are rare. */
interface Put {
  readonly seq: number;
  readonly kind: DeadKind;
  readonly key: SessionKey;
}

let fixture: NatsFixture;
let bus: Bus;
let there: Put[] = [];
const KEYS = [keyOf("often"), keyOf("rare"), keyOf("once")] as const;
const COUNT = 400;

beforeAll(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
  const puts = Array.from({ length: COUNT }, async (_, n): Promise<Put> => {
    const key = n === 123 ? KEYS[2] : n % 50 === 3 ? KEYS[1] : KEYS[0];
    const kind = n % 70 === 5 ? "task" : "mail";
    return { seq: await putDead(bus, kind, key, letterText(key, `l${n}`, { kind })), kind, key };
  });
  there = (await Promise.all(puts)).toSorted((a, b) => a.seq - b.seq);
  const isDropped = ({ seq }: Put): boolean => (seq > 40 && seq < 200) || seq % 7 === 0 || seq > COUNT - 5;
  for (const { seq } of there.filter(isDropped)) await deadLetters(bus).drop(seq);
  there = there.filter((one) => !isDropped(one));
});
afterAll(() => fixture.stop());

async function allPages(query: LetterQuery): Promise<number[]> {
  const seqs: number[] = [];
  for (let cursor: number | undefined; ; ) {
    const page = await deadLetters(bus).list({ ...query, cursor });
    expect(page.letters.length).toBeLessThanOrEqual(query.limit);
    seqs.push(...page.letters.map(({ seq }) => seq));
    if (page.next === null) return seqs;
    // Only the last page is short.
    expect(page.letters).toHaveLength(query.limit);
    cursor = page.next;
  }
}

describe("pages, the newest first, of", () => {
  const queries: readonly (readonly [string, Omit<LetterQuery, "limit">])[] = [
    ["everything", {}],
    ["one kind", { kind: "task" }],
    ["one session", { session: KEYS[1] }],
    ["a session with one letter", { session: KEYS[2] }],
    ["one kind of one session", { kind: "mail", session: KEYS[0] }],
    ["what there is none of", { kind: "job" }],
  ];
  test.each(queries)("%s hold each letter once, at any page size", async (_what, query) => {
    const wanted = there
      .filter(({ kind, key }) => (query.kind ?? kind) === kind && (query.session ?? key) === key)
      .map(({ seq }) => seq)
      .toReversed();
    for (const limit of [1, 2, 7, 64, 1_000]) expect(await allPages({ ...query, limit })).toEqual(wanted);
    expect((await deadLetters(bus).list({ ...query, limit: 1 })).total).toBe(wanted.length);
  });

  test("a stream that others add to and take from meanwhile leave nothing out that stays", async () => {
    let isOver = false;
    const dead = deadLetters(bus);
    const churning = (async () => {
      for (let n = 0; !isOver; n += 1)
        await dead.drop(await putDead(bus, "mail", KEYS[0], letterText(KEYS[0], `c${n}`)));
    })();
    const seqs: number[] = [];
    for (let cursor: number | undefined; ; ) {
      const page = await dead.list({ limit: 3, cursor });
      seqs.push(...page.letters.map(({ seq }) => seq));
      if (page.next === null) break;
      cursor = page.next;
    }
    isOver = true;
    await churning;
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => b - a));
    expect(seqs.filter((seq) => seq <= COUNT)).toEqual(there.map(({ seq }) => seq).toReversed());
  });

  test.each([1, 3])("a letter that comes between two counts hides no older one, %d to a page", async (limit) => {
    const reader = await provisioned(fixture);
    const dead = deadLetters(reader);
    const wire = wireOf(reader);
    const ask = wire.askMany.bind(wire);
    const [oldest = 0, second = 0, third = 0] = there.map(({ seq }) => seq);
    const added: number[] = [];
    let counts = 0;
    vi.spyOn(wire, "askMany").mockImplementation(async (question, ...rest) => {
      const isCount = question.subject === "$JS.API.DIRECT.GET.DEAD";
      if (isCount && ++counts === 2)
        for (let n = 0; n < 5; n += 1) added.push(await putDead(bus, "mail", KEYS[0], letterText(KEYS[0], `n${n}`)));
      return ask(question, ...rest);
    });
    const seqs: number[] = [];
    for (let cursor: number | null = third; cursor !== null; counts = 0) {
      const page = await dead.list({ limit, cursor });
      seqs.push(...page.letters.map(({ seq }) => seq));
      cursor = page.next;
    }
    expect(seqs).toEqual([second, oldest]);
    for (const seq of added) await dead.drop(seq);
  });

  test("large letters come in more than one batch", async () => {
    const key = keyOf("large");
    const body = "x".repeat(180_000);
    const seqs: number[] = [];
    for (let n = 0; n < 60; n += 1) seqs.push(await putDead(bus, "mail", key, letterText(key, `big${n}`, { body })));
    expect(await allPages({ session: key, limit: 100 })).toEqual(seqs.toReversed());
  });
});
