import { DeadLetter, deadSubject, decode, encode, OutboxMessage, outboxSubject, STREAM } from "@troupe/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bus, connectBus, deadLetters, deadReplies, mailSender, outboxFeed } from "../src/index.js";
import { wireOf } from "../src/bus.js";
import { readFromLeader } from "../src/stored-message.js";
import { keyOf, type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;
beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

const KEY = keyOf("a");
const put = async (text: string, subject = outboxSubject(KEY), on = bus): Promise<number> =>
  (await mailSender(on).send({ subject, id: crypto.randomUUID(), body: text })).seq;
const letters = async (on = bus) => (await deadLetters(on).list({ kind: "reply", limit: 10 })).letters;
const isThere = async (seq: number): Promise<boolean> =>
  (await readFromLeader(wireOf(bus), STREAM.outbox, { seq })) !== null;

test("a reply that nobody can read lies in DEAD with the reason, and no longer in the outbox", async () => {
  const seq = await put('{"oops":');
  expect(await deadReplies(bus).bury(seq)).toEqual({ key: KEY, reason: "the body is not JSON" });
  const [letter] = await letters();
  const content = { kind: "reply", subject: outboxSubject(KEY), seq, reason: "the body is not JSON", body: '{"oops":' };
  expect(letter).toMatchObject({ kind: "reply", key: KEY, content: { message: content } });
  expect(await outboxFeed(bus).replay(KEY, 0)).toEqual([]);
  expect(await deadReplies(bus).bury(seq)).toBeNull();
  expect(await letters()).toHaveLength(1);
});

test("several that see it at once leave one letter, and one of them says so", async () => {
  const seq = await put("{");
  const others = await Promise.all(["b", "c"].map((name) => fixture.connect(name)));
  const ends = await Promise.all([bus, ...others].map((on) => deadReplies(on).bury(seq)));
  expect(ends.filter((end) => end !== null)).toHaveLength(1);
  expect(await letters()).toHaveLength(1);
  expect(await isThere(seq)).toBe(false);
});

test("a process that dies before the message is removed leaves no second letter to the next one", async () => {
  await fixture.stop();
  const deny = '{ publish: { deny: ["$JS.API.STREAM.MSG.DELETE.>"] } }';
  fixture = await startFixture({
    config: `authorization { users: [
      { user: whole, password: whole }, { user: dying, password: dying, permissions: ${deny} }
    ] }`,
  });
  const as = (user: string) => connectBus({ target: { url: fixture.server.url, user, pass: user }, name: user });
  bus = await provisioned({ ...fixture, connect: () => as("whole") });
  const dying = await as("dying");
  const seq = await put("{");
  await expect(deadReplies(dying).bury(seq)).rejects.toThrow(/not permitted/);
  expect(await isThere(seq)).toBe(true);
  expect(await deadReplies(bus).bury(seq)).toBeNull();
  expect(await isThere(seq)).toBe(false);
  expect(await letters()).toHaveLength(1);
  await Promise.all([bus.close(), dying.close()]);
});

test("what can be read, or by a newer version, stays where it is", async () => {
  const notice = { turn: null, level: "info", text: "still working" } as const;
  const head = { v: 1, id: "e1", kind: "notice", session: "http:a", generation: 0 } as const;
  const seqs = [await put(encode(OutboxMessage, { ...head, notice })), await put('{"v":9,"id":"x"}')];
  for (const seq of seqs) expect(await deadReplies(bus).bury(seq)).toBeNull();
  expect(await Promise.all(seqs.map(isThere))).toEqual([true, true]);
  expect(await letters()).toEqual([]);
});

test("one under a subject that names no conversation is moved too", async () => {
  const seq = await put("{}", "outbox.http.==");
  expect(await deadReplies(bus).bury(seq)).toMatchObject({ reason: "its subject names no conversation" });
  expect(await isThere(seq)).toBe(false);
});

test("of a large one the beginning is kept, whatever characters it holds", async () => {
  const text = "\u0000".repeat(900_000);
  expect(await deadReplies(bus).bury(await put(text))).not.toBeNull();
  const stored = await readFromLeader(wireOf(bus), STREAM.dead, { last_by_subj: deadSubject("reply", KEY) });
  const letter = decode(DeadLetter, stored?.text ?? "");
  expect(letter).toMatchObject({ kind: "ok", message: { truncated: true } });
  expect(letter.kind === "ok" && text.startsWith(letter.message.body)).toBe(true);
});

test("a retry is refused with the reason, also of one that can be read now", async () => {
  await deadReplies(bus).bury(await put("{"));
  const [letter] = await letters();
  expect(letter?.refusal).toMatch(/cannot be read and would come back: the body is not JSON/);
  const notice = { turn: null, level: "info", text: "x" } as const;
  const head = { v: 1, id: "e1", kind: "notice", session: "http:a", generation: 0 } as const;
  const body = encode(OutboxMessage, { ...head, notice });
  const forged = { v: 1, id: "l", kind: "reply", subject: outboxSubject(KEY), seq: 1, reason: "why", body } as const;
  const seq = await put(encode(DeadLetter, forged), deadSubject("reply", KEY));
  expect(await deadLetters(bus).retry(seq)).toMatchObject({
    kind: "refused",
    reason: expect.stringMatching(/only the session itself/),
  });
  expect(await deadLetters(bus).drop(seq)).toBe(true);
});
