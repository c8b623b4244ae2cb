import { performance } from "node:perf_hooks";
import type { ScriptedRequest, ServiceProcess } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type HistoryMessage, History } from "../system/api-shapes.js";
import { Conversation } from "../system/conversation.js";
import { subjectsOf } from "../system/crash-point.js";
import { useTroupe } from "../system/use-troupe.js";
import { startWireTap, type WireTap } from "../system/wire-tap.js";
import { plain, shownTo } from "./wire-reading.js";

/**
 * One conversation of 1,500 messages, long enough to be sealed many times over, to outgrow the model's window several
 * times, and to live through a restart of everything in its middle.
 */
const TURNS = 750;
const WINDOW_TOKENS = 60_000;
const SESSION = "http:long";
/** Two of these in a turn: 1,500 of them are three windows. */
const FILLER = "lorem ipsum dolor sit amet ".repeat(20);
/** Turns at the beginning and at the end whose commits are compared; by the first, pieces have been sealed. */
const EARLY = { from: 100, to: 200 };
const LATE = { from: 650, to: 750 };

const system = useTroupe({ orchestrators: 0 });
const sayOf = (n: number): string => `question ${n}: ${FILLER}`;
const answerOf = (n: number): string => `answer ${n}: ${FILLER}`.trim();

/** When the answer's commit left, and when it was known to have landed: the reply is published then. */
interface Commit {
  readonly writtenAt: number;
  readonly bytes: number;
  readonly ms: number;
}

let tap: WireTap;
let orchestrator: ServiceProcess;
const commits: Commit[] = [];

beforeAll(async () => {
  tap = await startWireTap(system().natsUrl);
  const { write, outbox } = subjectsOf(SESSION);
  let last: Omit<Commit, "ms"> | undefined;
  tap.before = ({ subject, body }) => {
    if (subject === write) last = { writtenAt: performance.now(), bytes: body.length };
    if (subject === outbox && last !== undefined) commits.push({ ...last, ms: performance.now() - last.writtenAt });
    return "pass";
  };
  orchestrator = await system().addOrchestrator({ NATS_URL: tap.url });
  system().model.reply((request, respond) => {
    const number = /^question (\d+)/.exec(request.lastUser)?.[1];
    respond.text(number === undefined ? `SUMMARY ${summaries().length}` : answerOf(Number(number)));
  });
});
afterAll(() => tap.close());

const isSummary = ({ body }: ScriptedRequest): boolean => String(body.messages?.[0]?.content).startsWith("Summarise");
const summaries = (): ScriptedRequest[] => system().model.requests.filter(isSummary);
const turns = (): ScriptedRequest[] => system().model.requests.filter((request) => !isSummary(request));
const chat = (): Conversation => new Conversation(system(), SESSION);

async function talk(from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) {
    const { final } = await chat().say(sayOf(n));
    expect(final).toMatchObject({ kind: "answer", text: answerOf(n), index: 2 * n + 1 });
  }
}

/** All of the history, page by page, by the places that the pages name. */
async function allMessages(limit: number): Promise<HistoryMessage[]> {
  const all: HistoryMessage[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const { body } = await chat().get(`/messages?from=${from}&limit=${limit}`);
    const page = History.parse(body);
    expect(page.messages.length).toBeLessThanOrEqual(limit);
    all.push(...page.messages);
    if (page.next !== null) expect(page.next, "pages go on").toBe(from + page.messages.length);
    from = page.next;
  }
  return all;
}

function expectWhole(messages: readonly HistoryMessage[], count: number): void {
  expect(messages.length).toBe(2 * count);
  for (const [place, message] of messages.entries()) {
    const n = Math.floor(place / 2);
    const isUser = place % 2 === 0;
    expect([message.index, message.role], `message ${place}`).toEqual([place, isUser ? "user" : "assistant"]);
    expect(plain(message.content ?? ""), `message ${place}`).toBe(plain(isUser ? sayOf(n) : answerOf(n)));
  }
}

/** As the window's budget counts: four characters to a token, and a frame for each message. */
const tokensOf = (request: ScriptedRequest): number =>
  shownTo(request).reduce((sum, line) => sum + 4 + line.slice(line.indexOf(": ") + 2).length / 4, 0);

/** What a tenth of them do not exceed: other things that the machine does slow some down, a slow system all. */
const lowest = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 10)] ?? 0;
const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

describe("a conversation of 1,500 messages", () => {
  it("is answered right to its end, over a restart of everything in its middle", { timeout: 300_000 }, async () => {
    const startedAt = performance.now();
    await talk(0, TURNS / 2);
    const before = await allMessages(1000);
    const view = await chat().view();
    const [gateway] = system().gateways;
    await Promise.all([orchestrator.stop(), gateway?.stop()]);
    await Promise.all([orchestrator.start(), gateway?.start({ TROUPE_HTTP_PORT: new URL(system().url).port })]);
    expect(await allMessages(1000)).toEqual(before);
    expect({ ...(await chat().view()), lease: null }).toEqual({ ...view, lease: null });
    await talk(TURNS / 2, TURNS);
    expect(await chat().view()).toMatchObject({ messageCount: 2 * TURNS, generation: 0, queued: 0, turn: null });
    console.log(
      `1,500 messages: ${((performance.now() - startedAt) / TURNS).toFixed(1)} ms a turn, one after the other`,
    );
  });

  it("can be read page by page, whatever the size of a page, without a gap or a repetition", async () => {
    const all = await allMessages(1000);
    expectWhole(all, TURNS);
    for (const limit of [7, 100]) expect(await allMessages(limit)).toEqual(all);
    const middle = History.parse((await chat().get("/messages?from=731&limit=13")).body);
    expect(middle.messages).toEqual(all.slice(731, 744));
    const past = History.parse((await chat().get("/messages?from=99999")).body);
    expect(past).toMatchObject({ total: 2 * TURNS, next: null, messages: [] });
  });

  it("keeps the model within its window, from a user message on, with a summary of what it is not shown", () => {
    const asked = turns();
    expect(asked.length).toBe(TURNS);
    let summarised = 0;
    for (const [n, request] of asked.entries()) {
      const shown = shownTo(request);
      expect(tokensOf(request), `turn ${n}`).toBeLessThanOrEqual(WINDOW_TOKENS);
      expect(shown[0]?.startsWith("user: "), `turn ${n}`).toBe(true);
      expect(plain(shown.at(-1) ?? "")).toBe(plain(`user: ${sayOf(n)}`));
      const first = Number(/question (\d+)/.exec(shown[0] ?? "")?.[1]);
      expect(shown.length, `turn ${n}: a run without gaps`).toBe(2 * (n - first) + 1);
      const instructions = String(request.body.messages?.[0]?.content);
      if (first === 0) continue;
      expect(instructions, `turn ${n} does not see the beginning`).toContain("SUMMARY");
      summarised += 1;
    }
    expect(summarised).toBeGreaterThan(0);
    expect(summaries().length).toBeGreaterThan(1);
    const sentences = summaries().map((request) => shownTo(request)[0] ?? "");
    expect(sentences[0]).toContain("question 0:");
    expect(sentences[1], "a summary builds on the one before").toContain("SUMMARY 1");
    console.log(`window: ${summaries().length} summaries, ${summarised} of ${TURNS} turns shown with one`);
  });

  it("costs at its end what it cost at its beginning", () => {
    expect(commits.length).toBe(TURNS);
    const early = commits.slice(EARLY.from, EARLY.to);
    const late = commits.slice(LATE.from, LATE.to);
    const of = (some: readonly Commit[]) => ({
      ms: lowest(some.map(({ ms }) => ms)),
      kib: median(some.map(({ bytes }) => bytes)) / 1024,
    });
    const [start, end] = [of(early), of(late)];
    console.log(
      `commit of an answer at 200-400 messages: ${start.ms.toFixed(2)} ms, ${start.kib.toFixed(1)} KiB;` +
        ` at 1,300-1,500: ${end.ms.toFixed(2)} ms, ${end.kib.toFixed(1)} KiB; ratio ${(end.ms / start.ms).toFixed(2)}`,
    );
    expect(end.kib).toBeLessThan(start.kib * 1.5);
    // Generous: the machine does other things, and a summary may be under way.
    expect(end.ms).toBeLessThan(start.ms * 3 + 4);
  });
});

describe("a conversation whose summary cannot be made", () => {
  it("goes on within the window, and is told the summary as soon as there is one", async () => {
    const pages = new Conversation(system(), "pages");
    const { model } = system();
    const answerPages = model.when("page", (_request, respond) => respond.text("read"));
    const refuseSummaries = model.when(isSummary, (_request, respond) => respond.status(400, { error: {} }));
    const about = (request: ScriptedRequest): boolean => request.lastUser.startsWith("page") && !isSummary(request);
    const read = async (n: number): Promise<ScriptedRequest> => {
      expect((await pages.say(`page ${n}: ${"word ".repeat(4_000)}`)).final.text).toBe("read");
      return model.waitForRequest((request) => about(request) && request.lastUser.startsWith(`page ${n}:`));
    };
    let shownFrom = 0;
    for (let n = 0; n < 20; n += 1) {
      const asked = await read(n);
      const shown = shownTo(asked);
      expect(tokensOf(asked), `page ${n}`).toBeLessThanOrEqual(WINDOW_TOKENS);
      shownFrom = Number(/^user: page (\d+)/.exec(shown[0] ?? "")?.[1]);
      expect(shown.length, `page ${n}: nothing is left out in between`).toBe(2 * (n - shownFrom) + 1);
      expect(JSON.stringify(asked.body.messages)).not.toContain("SUMMARY");
    }
    expect(shownFrom, "not all of it fits").toBeGreaterThan(0);
    const before = summaries().length;
    refuseSummaries();
    const summarise = model.when(isSummary, (_request, respond) => respond.text("SUMMARY at last"));
    await read(20);
    await vi.waitFor(() => expect(summaries().length).toBeGreaterThan(before));
    const told = await vi.waitFor(
      async () => {
        const asked = await read(21 + summaries().length + model.requests.length);
        expect(String(asked.body.messages?.[0]?.content)).toContain("SUMMARY at last");
        return asked;
      },
      { interval: 100 },
    );
    expect(shownTo(told)[0]).toMatch(/^user: page \d+/);
    expect((await pages.view()).generation).toBe(0);
    summarise();
    answerPages();
  });
});
