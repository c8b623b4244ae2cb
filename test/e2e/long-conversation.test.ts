import { performance } from "node:perf_hooks";
import { connectBus } from "@troupe/jetstream";
import type { ServiceProcess } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plantConversation, plantedMessage } from "../bench/planted-conversation.mjs";
import { History } from "../system/api-shapes.js";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { type Published, startWireTap, type WireTap } from "../system/wire-tap.js";

/**
 * K12 at its full length: what a turn writes, and what it takes to open a conversation, at 100,000 messages beside 300.
 * Counted, not timed: the numbers of requests and bytes are the same on every machine. `npm run bench` has the times.
 */
const system = useTroupe({ orchestrators: 0 });
const [SHORT, LONG] = [300, 100_000];
const TURNS = 40;
/** Of one opening, on a machine that does other things as well; the bench holds it to 50 ms. */
const GENEROUS_MS = 5_000;

/** Of pieces there is one level more for each sixteenfold length. */
const LEVELS = 2;

let tap: WireTap;
let orchestrator: ServiceProcess;
let gateway: ServiceProcess;
let log: Published[] = [];

const chats = {
  short: new Conversation({ api: (...args) => system().api(...args) }, "http:short"),
  long: new Conversation({ api: (...args) => system().api(...args) }, "http:long"),
};

beforeAll(async () => {
  tap = await startWireTap(system().natsUrl);
  tap.before = (published) => {
    log.push(published);
    return "pass";
  };
  const [first] = system().gateways;
  if (first === undefined) throw new Error("no gateway");
  gateway = first;
  const { url, user, pass } = system().nats;
  const bus = await connectBus({ target: { url, user, pass }, name: "test" });
  for (const [chat, length] of [
    [chats.short, SHORT],
    [chats.long, LONG],
  ] as const) {
    await plantConversation(bus, chat.id, length);
  }
  await bus.close();
  orchestrator = await system().addOrchestrator({ NATS_URL: tap.url });
  await restartGateway();
}, 120_000);
afterAll(() => tap.close());

async function restartGateway(): Promise<void> {
  await gateway.stop();
  await gateway.start({ NATS_URL: tap.url, TROUPE_HTTP_PORT: new URL(system().url).port });
}

interface Traffic {
  readonly requests: number;
  readonly bytes: number;
  readonly ms: number;
}

/** What both services ask of the server while something is done, of the subjects that count. */
async function trafficOf(counts: RegExp, work: () => Promise<unknown>): Promise<Traffic> {
  log = [];
  const startedAt = performance.now();
  await work();
  const counted = log.filter(({ subject }) => counts.test(subject));
  const bytes = counted.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  return { requests: counted.length, bytes, ms: performance.now() - startedAt };
}

const WRITES = /^(?:\$KV\.|\$O\.|outbox\.)/;
const READS = /^\$JS\.API\.(?:DIRECT|STREAM\.MSG)\.GET\.(?:KV_|OBJ_)/;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

describe("a conversation of 100,000 messages", () => {
  it("K12: costs in each turn what one of 300 costs, merging of pieces included", { timeout: 120_000 }, async () => {
    const turns: Record<keyof typeof chats, Traffic[]> = { short: [], long: [] };
    for (let n = 0; n < TURNS; n += 1) {
      for (const name of ["short", "long"] as const) {
        const text = `question ${n} ${"about this and that ".repeat(40)}`;
        turns[name].push(await trafficOf(WRITES, () => chats[name].say(text)));
      }
    }
    const of = (name: keyof typeof chats, field: keyof Traffic) => turns[name].map((turn) => turn[field]);
    const kib = (name: keyof typeof chats) => median(of(name, "bytes")) / 1024;
    console.log(
      `a turn writes ${median(of("short", "requests"))} messages, ${kib("short").toFixed(1)} KiB at ${SHORT};` +
        ` ${median(of("long", "requests"))}, ${kib("long").toFixed(1)} KiB at ${LONG}`,
    );
    expect(median(of("long", "requests"))).toBe(median(of("short", "requests")));
    expect(sum(of("long", "requests"))).toBeLessThanOrEqual(sum(of("short", "requests")) + LEVELS);
    expect(Math.max(...of("long", "requests"))).toBeLessThanOrEqual(Math.max(...of("short", "requests")) + LEVELS);
    expect(kib("long")).toBeLessThan(kib("short") * 1.5);
    expect(median(of("long", "ms"))).toBeLessThan(median(of("short", "ms")) * 3 + 50);
  });

  it("K12: is opened by a process that has never seen it with a few requests more than one of 300", async () => {
    await orchestrator.stop();
    await orchestrator.start({ NATS_URL: tap.url });
    const short = await trafficOf(READS, () => chats.short.say("do you remember me?"));
    const long = await trafficOf(READS, () => chats.long.say("do you remember me?"));
    console.log(`the first turn reads ${short.requests} entries at ${SHORT}, ${long.requests} at ${LONG}`);
    expect(long.requests).toBeLessThanOrEqual(short.requests * 1.5 + 2 * LEVELS);
    expect(long.ms).toBeLessThan(GENEROUS_MS);
    const [request] = system().model.requests.slice(-1);
    expect(request?.lastUser).toBe("do you remember me?");
    expect(JSON.stringify(request?.body.messages)).toContain("They have spoken of many things.");
  });

  it.each([
    ["its first", 0],
    ["its middle", 50_000],
    ["its last", 99_900],
  ])("K12: shows 100 messages from %s with a few requests", async (_where, from) => {
    await restartGateway();
    const pages: unknown[] = [];
    const read = (chat: Conversation, at: number) => async () => {
      pages.push((await chat.get(`/messages?from=${at}&limit=100`)).body);
    };
    const short = await trafficOf(READS, read(chats.short, Math.min(from, 100)));
    const long = await trafficOf(READS, read(chats.long, from));
    console.log(`100 messages from ${from}: ${long.requests} entries read; of ${SHORT}: ${short.requests}`);
    expect(long.requests).toBeLessThanOrEqual(short.requests + 2 * LEVELS + 1);
    expect(long.ms).toBeLessThan(GENEROUS_MS);
    const { messages, total } = History.parse(pages[1]);
    expect(total).toBeGreaterThanOrEqual(LONG);
    const key = "http.long" as Parameters<typeof plantedMessage>[0];
    expect(messages.map(({ index, content }) => [index, content])).toEqual(
      messages.map((_, place) => [from + place, plantedMessage(key, from + place).content]),
    );
  });
});
