import { parseSessionId, type SessionKey } from "@troupe/contracts";
import { blobStore, type Bus, connectBus, segmentStore, sweepOrphans } from "@troupe/jetstream";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { plantConversation } from "../bench/planted-conversation.mjs";
import { Conversation } from "../system/conversation.js";
import { killAt } from "../system/crash-point.js";
import { useTroupe } from "../system/use-troupe.js";
import { startWireTap } from "../system/wire-tap.js";
import { BareNats } from "./hostile-nats.js";

/** What is left of a conversation in the whole of NATS when it is erased or reset: its one entry, and nothing else. */
const system = useTroupe();
/** Enough for pieces of pieces. */
const MESSAGES = 4_000;
const LONG = "a long answer, ".repeat(30_000);

let bare: BareNats;
let bus: Bus;
beforeAll(async () => {
  bare = await BareNats.open(system().nats);
  const { url, user, pass } = system().nats;
  bus = await connectBus({ target: { url, user, pass }, name: "test" });
});
afterAll(async () => {
  bare.close();
  await bus.close();
});

const Names = z.object({ streams: z.array(z.string()) });
const Info = z.object({ state: z.object({ subjects: z.record(z.string(), z.number()).default({}) }) });

/** Subjects of all streams that name the session, by the streams' names. */
async function traces(key: SessionKey): Promise<string[]> {
  const { streams } = Names.parse(JSON.parse(await bare.ask("$JS.API.STREAM.NAMES", "")));
  const subjects = await Promise.all(
    streams.map(async (stream) => {
      const asked = JSON.stringify({ subjects_filter: ">" });
      const info = Info.parse(JSON.parse(await bare.ask(`$JS.API.STREAM.INFO.${stream}`, asked)));
      return Object.keys(info.state.subjects);
    }),
  );
  return subjects.flat().filter((subject) => `${subject}.`.includes(`.${key}.`));
}

function keyOf(session: string): SessionKey {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}

const Lease = z.object({ lease: z.unknown() });

/** A reply is out before its turn is settled: until then pieces of the log may come, and what was mailed goes. */
async function atRest(key: SessionKey): Promise<void> {
  await vi.waitFor(async () => {
    expect((await traces(key)).filter((subject) => subject.startsWith("mail."))).toEqual([]);
    const { lease } = Lease.parse(JSON.parse((await bare.last("KV_sessions", `$KV.sessions.${key}`)) ?? "{}"));
    expect(lease).toBeNull();
  });
}

const entryOf = (key: SessionKey): string[] => [`$KV.sessions.${key}`];

/** A conversation with pieces of several levels, a large text in its log, and a long tool result. */
async function longConversation(name: string): Promise<{ readonly chat: Conversation; readonly key: SessionKey }> {
  const chat = new Conversation(system(), `http:${name}`);
  const key = keyOf(chat.id);
  await plantConversation(bus, chat.id, MESSAGES);
  system().model.enqueue(
    (_request, respond) =>
      respond.calls([{ id: `${name}-call-that-is-unique`, name: "echo", arguments: { text: "é".repeat(30_000) } }]),
    (_request, respond) => respond.text(LONG),
  );
  expect((await chat.say("say much")).final.text).toBe(LONG);
  await atRest(key);
  const found = await traces(key);
  expect(found.filter((subject) => subject.startsWith("$KV.segments.")).length).toBeGreaterThan(40);
  expect(found.filter((subject) => subject.startsWith("$O.blobs.")).length).toBeGreaterThan(4);
  return { chat, key };
}

describe("DELETE", () => {
  it("leaves the erased entry and nothing else, and nothing of another conversation is touched", async () => {
    const { chat, key } = await longConversation("gone");
    const other = await longConversation("gone-not");
    const before = await traces(other.key);
    expect((await chat.erase()).status).toBe(204);
    expect(await traces(key)).toEqual(entryOf(key));
    expect((await chat.get("")).status).toBe(404);
    expect(await traces(other.key)).toEqual(before);
    expect((await other.chat.messages()).length).toBeGreaterThan(0);
  });

  it.each([0, 1, 2, 3])("of a gateway killed before its purge number %i is finished by the next one", async (skip) => {
    const { chat, key } = await longConversation(`killed-${skip}`);
    const [gateway] = system().gateways;
    if (gateway === undefined) throw new Error("no gateway");
    const port = new URL(system().url).port;
    const tap = await startWireTap(system().natsUrl);
    await gateway.stop();
    await gateway.start({ NATS_URL: tap.url, TROUPE_HTTP_PORT: port });
    const isLast = ({ subject }: { readonly subject: string }) => subject.startsWith("$JS.API.STREAM.PURGE.");
    const killed = killAt({ name: "purge", isLast, skip, dies: "before" }, [{ tap, service: gateway }]);
    const cut = chat.erase().catch(() => "cut off");
    await killed;
    expect(await cut).toBe("cut off");
    await gateway.start({ NATS_URL: system().natsUrl, TROUPE_HTTP_PORT: port });
    await tap.close();
    expect((await chat.erase()).status).toBe(204);
    expect(await traces(key)).toEqual(entryOf(key));
    expect((await chat.erase()).status).toBe(404);
  });

  it("while a turn runs leaves nothing either, and what is said afterwards begins anew", async () => {
    const { chat, key } = await longConversation("busy");
    const held = system().model.hold("think about it", (_request, respond) => respond.text(LONG));
    await chat.send("think about it");
    await held.arrived;
    expect((await chat.erase()).status).toBe(204);
    held.release();
    expect(await traces(key)).toEqual(entryOf(key));
    expect((await chat.say("hello")).final).toMatchObject({ text: "echo: hello", index: 1 });
    expect((await chat.messages()).map(({ content }) => content)).toEqual(["hello", "echo: hello"]);
  });
});

describe("what a process stores that does not know yet that all is over", () => {
  it.each(["erase", "reset"] as const)("after %s is swept away, and the present generation stays", async (how) => {
    const { chat, key } = await longConversation(`late-${how}`);
    expect((await (how === "erase" ? chat.erase() : chat.control("reset"))).status).toBeLessThan(300);
    await segmentStore(bus).create(`${key}.0.0-10.${"0".repeat(64)}`, "late");
    await blobStore(bus).put({ key, generation: 0 }, "late");
    system().model.enqueue((_request, respond) => respond.text(LONG));
    await chat.say("say much again");
    expect(await sweepOrphans(bus)).toBeGreaterThan(0);
    const left = await traces(key);
    const old = left.filter((subject) => subject.includes(`.${key}.0.`));
    expect(old.filter((subject) => subject.startsWith("$KV."))).toEqual([]);
    // Who reads the events from their beginning is still shown the reply of before a reset, and its whole text.
    if (how === "erase") expect(old).toEqual([]);
    else expect(old.length).toBeGreaterThan(0);
    expect(left.filter((subject) => subject.includes(`.${key}.1.`)).length).toBeGreaterThan(0);
    expect((await chat.messages()).map(({ content }) => content)).toEqual(["say much again", LONG]);
  });
});
