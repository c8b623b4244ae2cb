import {
  digestOf,
  mailSubject,
  parseSessionId,
  type SessionKey,
  turnIdOf,
  UserMessage,
  encode,
} from "@troupe/contracts";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { BareNats } from "./hostile-nats.js";

/**
 * Stores without room. Without any for states nothing can be answered, so nothing is taken in, and what was waits;
 * without any for older history nothing new is taken in, and what was is answered.
 */
const system = useTroupe({
  config:
    "retention:\n  sessions:\n    maxBytes: 1048576\n  segments:\n    maxBytes: 1048576\n  mail:\n    maxBytes: 1048576\n",
});
let nats: BareNats;
let outbox: OutboxRecord;
beforeAll(async () => {
  nats = await BareNats.open(system().nats);
  outbox = await OutboxRecord.open(system());
});
afterAll(async () => {
  nats?.close();
  await outbox?.close();
});

const ballast: string[] = [];
const ballastOf = (bucket: string) => (n: number) => `$KV.${bucket}.http.ballast${n}`;

/** Until not even a small entry fits. */
async function fill(subjectOf: (n: number) => string): Promise<void> {
  for (const size of [100_000, 10_000, 1_000, 100]) {
    for (;;) {
      const subject = subjectOf(ballast.length);
      if ((await nats.ask(subject, "x".repeat(size))).includes("error")) break;
      ballast.push(subject);
    }
  }
}

async function makeRoom(stream: string): Promise<void> {
  for (const filter of ballast.splice(0)) {
    await nats.ask(`$JS.API.STREAM.PURGE.${stream}`, JSON.stringify({ filter }));
  }
}

function keyOf(session: string): SessionKey {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}

/** A message that MAIL has, as a gateway stores it that does not know yet. */
async function accepted(session: string, text: string): Promise<string> {
  const key = keyOf(session);
  const turn = turnIdOf(key, "m1");
  const head = { v: 1, id: `${key}:${turn}`, kind: "user", turn, messageId: "m1", principal: "owner" } as const;
  await nats.ask(mailSubject("session", key, "in"), encode(UserMessage, { ...head, text, digest: digestOf(text) }));
  return turn;
}

const services = () => [...system().gateways, ...system().orchestrators];
const levels = (store = "sessions"): Promise<number[]> =>
  Promise.all(services().map((one) => one.metric("troupe_store_full", { store })));
const saying = (what: RegExp): string[] =>
  services().flatMap(({ output }) => output.lines.filter((line) => what.test(line)));

it("refuses new messages with 503, keeps what it has, says once what to do, and goes on when there is room", async () => {
  const known = new Conversation(system(), "known");
  await known.say("hello");
  await fill(ballastOf("sessions"));
  const turn = await accepted("waiting", "are you there?");
  await vi.waitFor(async () => expect(await levels()).toEqual([1, 1]), { timeout: 20_000 });

  for (const chat of [known, new Conversation(system(), "new")]) {
    const refused = await chat.post("and now?", { id: "n1", wait: 5 });
    expect(refused).toMatchObject({ status: 503, body: { code: "overloaded" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  const completion = { model: "troupe", messages: [{ role: "user", content: "hi" }] };
  expect((await system().api("/v1/chat/completions", { json: completion })).status).toBe(503);
  const ready = await system().api("/readyz");
  expect(ready).toMatchObject({ status: 200, body: { components: { "store sessions": { state: "degraded" } } } });
  // What makes room is always taken.
  expect(await known.control("reset")).toMatchObject({ status: 200 });
  const [, orchestrator] = services();
  const refusals = async () => (await orchestrator?.metric("troupe_kernel_events_total", { kind: "trouble" })) ?? 0;
  const before = await refusals();
  await vi.waitFor(async () => expect(await refusals()).toBeGreaterThan(before + 2), { timeout: 20_000 });
  expect(await outbox.finals("http:waiting")).toEqual([]);

  await makeRoom("KV_sessions");
  await vi.waitFor(
    async () => expect((await outbox.finals("http:waiting")).map((final) => final.turn)).toEqual([turn]),
    {
      timeout: 20_000,
    },
  );
  expect((await known.sayThroughOutage("and now?", "n1")).final.text).toBe("echo: and now?");
  expect(saying(/\(sessions\) is full: raise retention\.sessions\.maxBytes/)).toHaveLength(2);
  expect(saying(/did not work out/)).toEqual([]);
  await vi.waitFor(() => expect(saying(/sessions has room again/)).toHaveLength(2), { timeout: 30_000 });
  expect(await levels()).toEqual([0, 0]);
});

it("answers what it has accepted when older history has no room, and refuses what is new", async () => {
  const long = new Conversation(system(), "long");
  await long.say(`a long one ${"x".repeat(20_000)}`);
  await fill(ballastOf("segments"));
  await vi.waitFor(async () => expect((await levels("segments"))[0]).toBe(1), { timeout: 20_000 });
  expect(await long.post("more", { id: "m2", wait: 1 })).toMatchObject({ status: 503, body: { code: "overloaded" } });
  const turn = await accepted("long", "are you there?");
  const answered = async () => (await outbox.finals("http:long")).filter((final) => final.turn === turn);
  await vi.waitFor(async () => expect(await answered()).toMatchObject([{ kind: "answer" }]), { timeout: 20_000 });
  expect((await long.messages()).map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(await levels("segments")).toEqual([1, 1]);
  await makeRoom("KV_segments");
  expect((await long.sayThroughOutage("more", "m2")).final.text).toBe("echo: more");
  expect(saying(/\(segments\) is full: raise retention\.segments\.maxBytes/)).toHaveLength(2);
});

it("says once that MAIL has no room, to the operator too", async () => {
  const chat = new Conversation(system(), "crowded");
  await fill((n) => `mail.nobody.http.ballast${n}.in`);
  for (let n = 0; n < 3; n += 1) {
    const refused = await chat.post("hello", { id: "m1", wait: 1 });
    expect(refused).toMatchObject({ status: 503, body: { code: "overloaded" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await levels("MAIL"))[0]).toBe(1);
  await makeRoom("MAIL");
  expect((await chat.sayThroughOutage("hello", "m1")).final.text).toBe("echo: hello");
  expect(saying(/MAIL is full: raise retention\.mail\.maxBytes/)).toHaveLength(1);
});
