import {
  type DeadLetter,
  decode,
  jobSubject,
  mailSubject,
  Retention,
  type SessionKey,
  STREAM,
  taskSubject,
  timerSubject,
  topology,
  turnIdOf,
  UserMessage,
} from "@troupe/contracts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Bus, connectBus, deadLetters, mailPort, mailSender, provision, StreamFull } from "../src/index.js";
import { wireOf } from "../src/bus.js";
import { readFromLeader } from "../src/stored-message.js";
import { letterText, putDead, userMail } from "./letter-fixture.js";
import { keyOf, type NatsFixture, provisioned, SMALL, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

const KEY = keyOf("a");
const put = (key: SessionKey, id: string, more?: Partial<DeadLetter>): Promise<number> =>
  putDead(bus, more?.kind ?? "mail", key, letterText(key, id, more));
const job = { kind: "job", subject: jobSubject("consolidation", KEY), body: "{}" } as const;
const task = { kind: "task", subject: taskSubject("coders"), body: '{"goal":"x"}' } as const;

/** What lies in MAIL for a session. */
async function mailOf(key: SessionKey, origin: "in" | "ops" = "in"): Promise<UserMessage[]> {
  const items = await mailPort(bus, "session").read(key, origin, 1, 100);
  return items.flatMap(({ text }) => {
    const read = decode(UserMessage, text);
    return read.kind === "ok" ? [read.message] : [];
  });
}
const last = async (stream: string, subject: string): Promise<string | undefined> =>
  (await readFromLeader(wireOf(bus), stream, { last_by_subj: subject }))?.text;

describe("a retry of what a person said", () => {
  test("is a new message with a turn of its own, for the old turn has had its final; then the letter is gone", async () => {
    const seq = await put(KEY, "letter-1");
    const outcome = await deadLetters(bus).retry(seq);
    const [sent, ...others] = await mailOf(KEY);
    expect(others).toEqual([]);
    const old = userMail(KEY, "m1", "hello");
    expect(sent).toEqual({ ...old, id: sent?.id, messageId: sent?.messageId, turn: sent?.turn });
    expect(sent?.turn).not.toBe(old.turn);
    expect(sent?.turn).toBe(turnIdOf(KEY, sent?.messageId ?? ""));
    expect(outcome).toMatchObject({ kind: "sent", turn: sent?.turn, duplicate: false });
    expect(await deadLetters(bus).get(seq)).toBeNull();
    expect(await deadLetters(bus).retry(seq)).toBeNull();
  });

  test("by several at once happens once", async () => {
    const seq = await put(KEY, "letter-1");
    const other = deadLetters(await fixture.connect("other"));
    const outcomes = await Promise.all([deadLetters(bus).retry(seq), other.retry(seq), deadLetters(bus).retry(seq)]);
    expect(await mailOf(KEY)).toHaveLength(1);
    const sent = outcomes.filter((outcome) => outcome?.kind === "sent" && !outcome.duplicate);
    expect(sent).toHaveLength(1);
  });

  test("whose process dies before the letter is removed leaves it, and the next retry sends nothing twice", async () => {
    const seq = await put(KEY, "letter-1");
    const permissions = '{ publish: { deny: ["$JS.API.STREAM.MSG.DELETE.>"] } }';
    await fixture.stop();
    const users = `authorization { users: [
      { user: whole, password: whole }, { user: dying, password: dying, permissions: ${permissions} }
    ] }`;
    fixture = await startFixture({ config: users });
    bus = await connectBus({ target: { url: fixture.server.url, user: "whole", pass: "whole" }, name: "test" });
    await provision(bus, topology(SMALL));
    expect(await put(KEY, "letter-1")).toBe(seq);
    const dying = await connectBus({
      target: { url: fixture.server.url, user: "dying", pass: "dying" },
      name: "dying",
    });
    await expect(deadLetters(dying).retry(seq)).rejects.toThrow(/not permitted/);
    const [first] = await mailOf(KEY);
    expect(await deadLetters(bus).get(seq)).not.toBeNull();
    expect(await deadLetters(bus).retry(seq)).toMatchObject({ kind: "sent", turn: first?.turn, duplicate: true });
    expect(await mailOf(KEY)).toEqual([first]);
    expect(await deadLetters(bus).get(seq)).toBeNull();
    await Promise.all([bus.close(), dying.close()]);
  });

  test("of a letter under the sequence of one from before the stream was made anew is another one", async () => {
    for (const id of ["letter-1", "letter-2"]) await deadLetters(bus).retry(await put(KEY, id));
    expect(new Set((await mailOf(KEY)).map(({ turn }) => turn)).size).toBe(2);
  });

  test("in another channel's session goes the way of operators, when the gateway is held to its own", async () => {
    const telegram = "telegram.42" as SessionKey;
    const gateway = deadLetters(bus, { channel: "http" });
    await gateway.retry(await put(telegram, "letter-1"));
    await gateway.retry(await put(KEY, "letter-2"));
    expect(await mailOf(telegram, "ops")).toHaveLength(1);
    expect(await mailOf(telegram)).toHaveLength(0);
    expect(await mailOf(KEY)).toHaveLength(1);
  });

  test("is refused by a full MAIL, and the letter stays", async () => {
    await provision(bus, topology(Retention.parse({ mail: { maxBytes: 1024 * 1024 } })));
    const fill = async (): Promise<void> => {
      const subject = mailSubject("session", keyOf("b"), "in");
      for (let n = 0; ; n += 1) await mailSender(bus).send({ subject, id: `m${n}`, body: "x".repeat(1_000) });
    };
    await expect(fill()).rejects.toBeInstanceOf(StreamFull);
    const text = "x".repeat(10_000);
    const seq = await put(KEY, "letter-1", { body: JSON.stringify(userMail(KEY, "m1", text)) });
    await expect(deadLetters(bus).retry(seq)).rejects.toBeInstanceOf(StreamFull);
    expect(await deadLetters(bus).get(seq)).toMatchObject({ seq, refusal: null });
    await provision(bus, topology(SMALL));
    expect(await deadLetters(bus).retry(seq)).toMatchObject({ kind: "sent", duplicate: false });
  });
});

describe("a retry of work", () => {
  test("sends the very same body to where it came from", async () => {
    expect(await deadLetters(bus).retry(await put(KEY, "l1", task))).toMatchObject({ kind: "sent", turn: null });
    expect(await last(STREAM.tasks, task.subject)).toBe(task.body);
    expect(await deadLetters(bus).retry(await put(KEY, "l2", job))).toMatchObject({ kind: "sent", duplicate: false });
    expect(await last(STREAM.jobs, job.subject)).toBe(job.body);
  });

  test("counts as done when a job of its subject waits already", async () => {
    await deadLetters(bus).retry(await put(KEY, "l1", { ...job, body: '{"first":true}' }));
    const seq = await put(KEY, "l2", job);
    expect(await deadLetters(bus).retry(seq)).toMatchObject({ kind: "waiting" });
    expect(await last(STREAM.jobs, job.subject)).toBe('{"first":true}');
    expect(await deadLetters(bus).get(seq)).toBeNull();
  });
});

describe("a retry is refused with its reason, and the letter stays:", () => {
  const at = (origin: "in" | "ops" | "work" | "self") => mailSubject("session", KEY, origin);
  const control = (kind: string) => ({ body: JSON.stringify({ v: 1, id: "c", kind, principal: "owner" }) });
  const cases: readonly (readonly [string, Partial<DeadLetter>, RegExp])[] = [
    ["mail that is no JSON", { body: "{" }, /cannot be read and would come back: the body is not JSON/],
    ["mail of a newer version", { body: '{"v":2,"id":"a"}' }, /newer version of Troupe \(schema 2\)/],
    ["mail of which a part was kept", { truncated: true }, /only its beginning was kept/],
    ["a worker's result", { subject: at("work") }, /answers what a session waits for at the time/],
    ["a timer", { subject: at("self"), body: '{"v":1,"id":"t","kind":"timer","body":{}}' }, /answers what a session/],
    ["a cancel", control("cancel"), /a cancel would act on what is there now/],
    ["a reset", control("reset"), /a reset would act on what is there now/],
    ["an erase", control("erase"), /an? erase would act on what is there now/],
    ["mail for another session", { subject: mailSubject("session", keyOf("b"), "in") }, /none of its session's/],
    ["mail to where no mail goes", { subject: timerSubject("session", KEY, "t") }, /none of its session's/],
    ["an order to the server", { ...task, subject: "$JS.API.STREAM.DELETE.MAIL" }, /none of its session's/],
    ["a task that claims to be a job's", { ...task, subject: job.subject }, /none of its session's/],
    ["a job for another session", { ...job, subject: jobSubject("embedding", keyOf("b")) }, /none of its session's/],
  ];
  test.each(cases)("%s", async (_what, more, reason) => {
    const seq = await put(KEY, "letter-1", more);
    const outcome = await deadLetters(bus).retry(seq);
    expect(outcome).toMatchObject({ kind: "refused", reason: expect.stringMatching(reason) });
    expect(await deadLetters(bus).get(seq)).toMatchObject({ seq, refusal: expect.stringMatching(reason) });
  });

  test("letters that nobody can read, or only a newer version; they are listed, shown and dropped all the same", async () => {
    const texts = ["{", '{"v":9,"id":"x","anything":[]}', '{"v":1,"id":"x"}', letterText(KEY, "l", job)];
    const seqs: number[] = [];
    for (const text of texts) seqs.push(await putDead(bus, "mail", KEY, text));
    const dead = deadLetters(bus);
    const { letters } = await dead.list({ limit: 10 });
    expect(letters.map(({ content }) => content.kind)).toEqual(["invalid", "invalid", "newer", "invalid"]);
    expect(letters.map(({ seq, kind, key }) => ({ seq, kind, key }))).toEqual(
      seqs.toReversed().map((seq) => ({ seq, kind: "mail", key: KEY })),
    );
    for (const [index, seq] of seqs.entries()) {
      expect(await dead.get(seq)).toMatchObject({ seq, text: texts[index] });
      expect(await dead.retry(seq)).toMatchObject({ kind: "refused" });
      expect(await dead.drop(seq)).toBe(true);
      expect(await dead.drop(seq)).toBe(false);
    }
    expect(await dead.list({ limit: 10 })).toEqual({ letters: [], next: null, total: 0 });
  });
});

test("a sequence that never was, or is beyond the stream, is no letter", async () => {
  const first = await put(KEY, "letter-1");
  for (const seq of [2, 1_000_000_000]) {
    expect(await deadLetters(bus).get(seq)).toBeNull();
    expect(await deadLetters(bus).retry(seq)).toBeNull();
    expect(await deadLetters(bus).drop(seq)).toBe(false);
  }
  expect(await deadLetters(bus).drop(first)).toBe(true);
  expect(await deadLetters(bus).drop(first)).toBe(false);
});
