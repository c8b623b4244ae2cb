import {
  DeadLetter,
  deadSubject,
  decode,
  liveSubject,
  mailSubject,
  type Origin,
  outboxSubject,
  parseSessionId,
  type SessionKey,
  turnIdOf,
} from "@troupe/contracts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Conversation } from "../system/conversation.js";
import { followEvents } from "../system/event-reader.js";
import { useTroupe } from "../system/use-troupe.js";
import { BareNats } from "./hostile-nats.js";
import { ask, expectProblem } from "./hostile-exchange.js";

/** Messages that no service of ours would send, straight into the streams: dead letters or left alone, and life goes on. */
const system = useTroupe();
let nats: BareNats;
let pids: number[];
const pidsNow = (): number[] => [...system().gateways, ...system().orchestrators].map(({ pid }) => pid);

beforeAll(async () => {
  nats = await BareNats.open(system().nats);
  pids = pidsNow();
});
afterAll(() => {
  nats.close();
  expect(pidsNow()).toEqual(pids);
  for (const service of [...system().gateways, ...system().orchestrators]) expect(service.isRunning).toBe(true);
});

function keyOf(session: string): SessionKey {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}

/** Stores a message as mail of a session's. */
async function post(session: string, origin: Origin, body: string | Buffer): Promise<void> {
  expect(await nats.ask(mailSubject("session", keyOf(session), origin), body)).toContain(`"seq"`);
}

function deadLetter(session: string): Promise<DeadLetter> {
  return vi.waitFor(
    async () => {
      const text = await nats.last("DEAD", deadSubject("mail", keyOf(session)));
      if (text === null) throw new Error("no dead letter yet");
      const read = decode(DeadLetter, text);
      if (read.kind !== "ok") throw new Error(`a dead letter that cannot be read: ${text.slice(0, 200)}`);
      return read.message;
    },
    { interval: 20 },
  );
}

const userMail = (session: string, more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    v: 1,
    id: "x1",
    kind: "user",
    turn: turnIdOf(keyOf(session), "x1"),
    messageId: "x1",
    digest: "0".repeat(64),
    text: "forged",
    principal: "owner",
    ...more,
  });

async function served(id: string): Promise<void> {
  expect((await new Conversation(system(), id).say("hello")).final.text).toBe("echo: hello");
}

const garbage: readonly (readonly [string, string | Buffer])[] = [
  ["nothing", ""],
  ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00, 0x80])],
  ["no JSON", "{"],
  ["null", "null"],
  ["a list", "[]"],
  ["an empty object", "{}"],
  ["a version that is none", `{"v":0,"id":"a","kind":"user"}`],
  ["a version that is a text", `{"v":"2","id":"a","kind":"user"}`],
  ["a version beyond range", `{"v":1e999,"id":"a","kind":"user"}`],
  ["an unknown kind", `{"v":1,"id":"a","kind":"launch"}`],
  ["__proto__", `{"__proto__":{"v":1,"id":"a","kind":"reset","principal":"x"}}`],
  ["a reset of nobody's", `{"v":1,"id":"a","kind":"reset"}`],
  ["deep nesting", "[".repeat(300_000) + "]".repeat(300_000)],
  ["900 kB of no use", "x".repeat(900_000)],
  ["900 kB of NUL", Buffer.alloc(900_000)],
];

describe("mail that cannot be read", () => {
  it.each(garbage)(
    "%s: becomes a dead letter with its reason, and the next message is answered",
    async (what, body) => {
      const session = `garbage ${what}`;
      await served(session);
      await post(session, "in", body);
      const letter = await deadLetter(session);
      expect(letter.reason).not.toBe("");
      expect(letter.reason).not.toMatch(/\n|    at |node_modules/);
      expect(letter.subject).toBe(mailSubject("session", keyOf(session), "in"));
      const text = body.toString();
      if (text.length < 1_000) expect(letter.body).toBe(text);
      else expect(text.startsWith(letter.body)).toBe(true);
      const chat = new Conversation(system(), session);
      expect((await chat.say("and now?")).final.text).toBe("echo: and now?");
      expect(await chat.view()).toMatchObject({ generation: 0, messageCount: 4, queued: 0 });
    },
  );

  it("from an operator or a worker is a dead letter as well", async () => {
    for (const origin of ["ops", "work"] as const) {
      await post(`garbage from ${origin}`, origin, "{");
      expect((await deadLetter(`garbage from ${origin}`)).reason).not.toBe("");
      await served(`garbage from ${origin}`);
    }
  });

  it("in a heap does not keep its own conversation waiting for long", async () => {
    for (let n = 0; n < 200; n += 1) nats.tell(mailSubject("session", keyOf("heap"), "in"), `{"v":1,"n":${n}}`);
    const startedAt = performance.now();
    await served("heap");
    console.log(`behind 200 unreadable messages: ${(performance.now() - startedAt).toFixed(0)} ms`);
  });
});

describe("mail from where it must not come", () => {
  it.each(["user", "cancel", "reset", "erase"])(
    "%s from a worker does nothing but become a dead letter",
    async (kind) => {
      const session = `wrong ${kind}`;
      await served(session);
      await post(session, "work", userMail(session, { kind }));
      expect((await deadLetter(session)).reason).toMatch(/not accepted from "work"/);
      const chat = new Conversation(system(), session);
      expect(await chat.view()).toMatchObject({ generation: 0, messageCount: 2 });
      expect(JSON.stringify(await chat.messages())).not.toContain("forged");
      await served(session);
    },
  );

  it("a timer that nobody set is ignored, or is a dead letter", async () => {
    await served("wrong timer");
    for (const body of [userMail("wrong timer"), `{"v":1,"id":"t","kind":"timer","body":{}}`, "{"])
      await post("wrong timer", "self", body);
    await served("wrong timer");
    expect(JSON.stringify(await new Conversation(system(), "wrong timer").messages())).not.toContain("forged");
  });

  it("for a name that no session has, or an actor that does not exist, disturbs nobody", async () => {
    for (const name of [
      "mail.session.http.=ZZ.in",
      "mail.session.nowhere.a.in",
      "mail.session.http.%.ops",
      "mail.robot.http.a.in",
      "mail.session.http.a=2.work",
    ]) {
      expect(await nats.ask(name, userMail("a"))).toContain(`"seq"`);
      expect(await nats.ask(name, "{")).toContain(`"seq"`);
    }
    await served("undisturbed");
    const { status } = await system().api("/v1/sessions?limit=1000");
    expect(status).toBe(200);
  });
});

describe("mail of a newer version", () => {
  it("is left to those that know it: no dead letter, no answer, and others are served", async () => {
    await post("newer", "in", userMail("newer", { v: 2 }));
    await served("older");
    await system().orchestrators[0]?.output.waitFor(/left to a newer service/);
    await served("older");
    expect(await nats.last("DEAD", deadSubject("mail", keyOf("newer")))).toBeNull();
    expect(await nats.last("MAIL", mailSubject("session", keyOf("newer"), "in"))).toBe(userMail("newer", { v: 2 }));
  });
});

describe("what is no mail", () => {
  it("garbage among the replies and previews reaches no reader", async () => {
    const events = await followEvents(system(), "noise");
    const key = keyOf("noise");
    for (const [, body] of garbage) {
      nats.tell(liveSubject(key), body);
      expect(await nats.ask(outboxSubject(key), body)).toContain(`"seq"`);
    }
    await served("noise");
    await events.next(({ event }) => event === "final");
    expect(new Set(events.events.map(({ event }) => event))).toEqual(new Set(["delta", "final"]));
    events.close();
    const replayed = await followEvents(system(), "noise", "0");
    await replayed.next(({ event }) => event === "final");
    expect(replayed.events.map(({ event }) => event)).toEqual(["final"]);
    replayed.close();
  });

  it("a state that cannot be read is told as a problem, and takes nothing else away", async () => {
    expect(await nats.ask(`$KV.sessions.${keyOf("broken")}`, "{nonsense")).toContain(`"seq"`);
    expectProblem(await ask(system(), { path: "/v1/sessions/broken" }), 500, "internal");
    expectProblem(await ask(system(), { path: "/v1/sessions/broken/messages" }), 500, "internal");
    expect(await new Conversation(system(), "broken").post("hello", { wait: 0.5 })).toMatchObject({ status: 202 });
    const { status, body } = await system().api("/v1/sessions?limit=1000");
    expect([status, JSON.stringify(body).includes("http:broken")]).toEqual([200, false]);
    await served("whole");
  });

  it("a state of a newer form is left alone", async () => {
    expect(await nats.ask(`$KV.sessions.${keyOf("future")}`, `{"schema":99}`)).toContain(`"seq"`);
    expectProblem(await ask(system(), { path: "/v1/sessions/future" }), 503, "newer_state");
    expect(await new Conversation(system(), "future").post("hello", { wait: 0.5 })).toMatchObject({ status: 202 });
    expect(await nats.last("KV_sessions", `$KV.sessions.${keyOf("future")}`)).toBe(`{"schema":99}`);
    await served("present");
  });
});
