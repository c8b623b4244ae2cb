import { describe, expect, it } from "vitest";
import { History, type HistoryMessage } from "../system/api-shapes.js";
import { Conversation } from "../system/conversation.js";
import { followEvents } from "../system/event-reader.js";
import { useTroupe } from "../system/use-troupe.js";

/**
 * Texts of every size against a NATS server with its default `max_payload` of 1 MiB: none may end in `internal`, hang
 * a conversation, or be a dead letter.
 */
const system = useTroupe();
const KB = 1_000;
const MB = 1_000 * KB;

/** Text of exactly this many characters, no two lines alike, with characters of several bytes in it. */
function prose(length: number, name: string): string {
  const lines: string[] = [];
  for (let size = 0; size < length; ) {
    const line = `${name} ${lines.length}: "größer", 文, 😀\n`;
    lines.push(line);
    size += line.length;
  }
  return `${lines
    .join("")
    .slice(0, length - 2)
    .toWellFormed()}ok`;
}

/** Texts of megabytes are compared by length and equality: a diff of them would be no help to anybody. */
function expectSame(actual: unknown, expected: string, what: string): void {
  expect(typeof actual, what).toBe("string");
  expect(String(actual).length, what).toBe(expected.length);
  expect(actual === expected, `${what}: every character`).toBe(true);
}

/** The whole history, by the places that its pages name; no page is longer than a process can bear. */
async function pagesOf(chat: Conversation): Promise<HistoryMessage[]> {
  const all: HistoryMessage[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const page = History.parse((await chat.get(`/messages?from=${from}&limit=1000`)).body);
    expect(JSON.stringify(page).length).toBeLessThan(20 * MB);
    expect(page.messages.map(({ index }) => index)).toEqual(page.messages.map((_, place) => all.length + place));
    all.push(...page.messages);
    from = page.next;
  }
  return all;
}

const chatOf = (name: string): Conversation => new Conversation(system(), `http:${name}`);

describe("an answer", () => {
  it.each([
    ["100 KB", 100 * KB],
    ["300 KB", 300 * KB],
    ["2 MB", 2 * MB],
    ["4 MB", 4 * MB],
  ])("of %s reaches the person whole, and so does the history", { timeout: 180_000 }, async (name, length) => {
    const text = prose(length, name);
    const chat = chatOf(`answer ${name}`);
    const off = system().model.when(`say ${name}`, (_request, respond) => respond.text(text));
    const live = await followEvents(system(), chat.id);
    const { final, turn } = await chat.say(`say ${name}`, { id: "m1" });
    off();
    expect(final).toMatchObject({ kind: "answer", error: null });
    const told = final.introduction === null ? text : `${final.introduction}\n\n${text}`;
    expectSame(final.text, told, "the final that was waited for");
    const isFinal = ({ event }: { event?: string | undefined }): boolean => event === "final";
    expectSame(JSON.parse((await live.next(isFinal)).data).text, told, "the event");
    live.close();
    const replayed = await followEvents(system(), chat.id, "0");
    expectSame(JSON.parse((await replayed.next(isFinal)).data).text, told, "the event, replayed");
    replayed.close();
    expectSame((await pagesOf(chat)).at(-1)?.content, told, "the history");
    const again = await chat.say(`say ${name}`, { id: "m1" });
    expect(again).toMatchObject({ turn, duplicate: true });
    expectSame(again.final.text, told, "the final of the same id");
    expect((await chat.say("and now")).final.text).toBe("echo: and now");
  });

  it.each([
    ["9 MB in one go", 9, 1],
    ["20 MB in many pieces", 1, 20],
  ])("beyond all measure ends its turn honestly: %s", { timeout: 180_000 }, async (name, megabytes, count) => {
    const chat = chatOf(name);
    const piece = "and so on ".repeat(100 * KB * megabytes);
    const off = system().model.when("go on", (_request, respond) =>
      respond.text(Array.from({ length: count }, () => piece)),
    );
    const { final } = await chat.say("go on");
    off();
    expect(final).toMatchObject({ kind: "error", error: { code: "budget_exceeded", retryable: false } });
    expect((await chat.say("and now")).final.text).toBe("echo: and now");
  });

  it("whose chunks are larger than a message is previewed without a gap, as far as is sensible", async () => {
    const chat = chatOf("previewed");
    const pieces = [prose(300 * KB, "first"), prose(MB, "second")];
    const off = system().model.when("show", (_request, respond) => respond.text(pieces));
    const live = await followEvents(system(), chat.id);
    await chat.say("show");
    off();
    await live.next(({ event }) => event === "final");
    const deltas = live.events.filter(({ event }) => event === "delta").map(({ data }) => JSON.parse(data));
    const shown = deltas.map(({ text }) => text).join("");
    expect(deltas.map(({ seq }) => seq)).toEqual(deltas.map((_, place) => place));
    expect(shown.length).toBeGreaterThan(500 * KB);
    expectSame(shown, pieces.join("").slice(0, shown.length), "the preview");
    live.close();
  });
});

describe("what a person sends", () => {
  const nearLimit = (n: number): string => prose(120 * KB, `letter ${n}`);

  it("near the limit of a message is shown to the model whole and kept whole", async () => {
    const chat = chatOf("letter");
    const text = "x".repeat(1_000_000);
    await chat.say(text);
    const { lastUser } = await system().model.waitForRequest((request) => request.lastUser.startsWith("xxx"));
    expectSame(lastUser, text, "what the model saw");
    expectSame((await chat.messages())[0]?.content, text, "the history");
  });

  it("twenty times while a turn runs waits, and is answered in order", { timeout: 180_000 }, async () => {
    const chat = chatOf("letters");
    const held = system().model.hold("wait for it");
    const first = chat.say("wait for it");
    await held.arrived;
    const letters = Array.from({ length: 20 }, (_, n) => nearLimit(n));
    const sent = [];
    for (const letter of letters) sent.push(await chat.send(letter));
    held.release();
    await first;
    await chat.until("all are answered", ({ messageCount, turn }) => messageCount === 42 && turn === null);
    const all = await pagesOf(chat);
    const said = all.filter(({ role }) => role === "user").slice(1);
    for (const [n, letter] of letters.entries()) {
      expect(said[n]?.turn).toBe(sent[n]?.turn);
      expectSame(said[n]?.content, letter, `letter ${n}`);
    }
    const answers = all.filter(({ role }) => role === "assistant").slice(1);
    for (const [n, letter] of letters.entries()) expectSame(answers[n]?.content, `echo: ${letter}`, `answer ${n}`);
  });

  it("as long instructions of a turn, queued as well, is told to the model whole", async () => {
    const instructions = prose(250 * KB, "rule");
    const headers = { "x-troupe-session": "http:ruled" };
    const ask = (text: string) =>
      system().api("/v1/chat/completions", {
        headers,
        json: {
          model: "troupe",
          messages: [
            { role: "system", content: `${text} ${instructions}` },
            { role: "user", content: text },
          ],
        },
      });
    const texts = Array.from({ length: 8 }, (_, n) => `ruled ${n}`);
    const answers = await Promise.all(texts.map(ask));
    expect(answers.map(({ status }) => status)).toEqual(texts.map(() => 200));
    for (const text of texts) {
      const request = await system().model.waitForRequest((one) => one.lastUser === text);
      const told = String(request.body.messages?.[0]?.content);
      expect(told.endsWith(`${text} ${instructions}`), text).toBe(true);
    }
  });

  it("over what the server takes is refused with a word that says so", async () => {
    const answer = await chatOf("too long").post("x".repeat(1_048_000));
    expect(answer).toMatchObject({ status: 422 });
    const wide = await chatOf("too wide").post("文".repeat(349_500));
    expect([200, 413]).toContain(wide.status);
  });
});

describe("a tool", () => {
  it("whose arguments are megabytes is not run, is told why, and the turn goes on", async () => {
    const chat = chatOf("arguments");
    system().model.enqueue((_request, respond) =>
      respond.calls([{ id: "c1", name: "echo", arguments: { text: "a".repeat(3 * MB) } }]),
    );
    const { final } = await chat.say("use it");
    expect(final).toMatchObject({ kind: "answer", error: null });
    const result = (await chat.messages()).find(({ role }) => role === "tool");
    expect(result?.content).toMatch(/too long/);
  });

  it("whose arguments are megabytes of no JSON at all, or whose name is, is answered as a mistake", async () => {
    const chat = chatOf("nonsense");
    system().model.enqueue(
      (_request, respond) => respond.calls([{ id: "c1", name: "echo", arguments: `{"text": ${"a".repeat(2 * MB)}` }]),
      (_request, respond) => respond.calls([{ id: "i".repeat(MB), name: "n".repeat(2 * MB), arguments: "{}" }]),
    );
    const { final } = await chat.say("use it");
    expect(final).toMatchObject({ kind: "answer", error: null });
    expect(JSON.stringify(await chat.messages()).length).toBeLessThan(20 * KB);
  });

  it("called a hundred times at once, with a long result each, leaves a history that is whole", async () => {
    const chat = chatOf("crowd");
    const text = "文".repeat(15_000);
    system().model.enqueue((_request, respond) =>
      respond.calls(
        Array.from({ length: 60 }, (_, n) => ({ id: `c${n}`, name: "read_blob", arguments: { blob: `${n}` } })),
      ),
    );
    system().model.enqueue((_request, respond) => respond.calls([{ id: "echo-1", name: "echo", arguments: { text } }]));
    const { final } = await chat.say("use them");
    expect(final).toMatchObject({ kind: "answer", error: null });
    const results = (await chat.messages()).filter(({ role }) => role === "tool");
    expect(results.length).toBe(61);
    expectSame(results.at(-1)?.content, text, "the long result");
  });

  it("called a thousand times at once is not: the model hears how many are taken", async () => {
    const chat = chatOf("mob");
    system().model.enqueue((_request, respond) =>
      respond.calls(Array.from({ length: 1_000 }, (_, n) => ({ id: `m${n}`, name: "now", arguments: "{}" }))),
    );
    const { final } = await chat.say("use them");
    expect(final).toMatchObject({ kind: "answer", error: null });
    const results = (await chat.messages()).filter(({ role }) => role === "tool");
    expect(results.length).toBeLessThan(200);
    expect(results.map(({ content }) => content).join()).toMatch(/too many/i);
  });
});

describe("a history of large texts", () => {
  it("is read page by page, in pages that fit", { timeout: 180_000 }, async () => {
    const chat = chatOf("library");
    const book = (n: number): string => prose(600 * KB, `book ${n}`);
    for (let n = 0; n < 5; n += 1) await chat.say(book(n));
    const all = await pagesOf(chat);
    expect(all.length).toBe(10);
    for (const { index, role, content } of all) {
      if (role === "user") expectSame(content, book(index / 2), `message ${index}`);
    }
  });

  it("is summarised, also when the summary is endless", { timeout: 180_000 }, async () => {
    const chat = chatOf("summary");
    const off = system().model.when(
      ({ body }) => String(body.messages?.[0]?.content).startsWith("Summarise"),
      (_request, respond) => respond.text("in short, ".repeat(300 * KB)),
    );
    for (let n = 0; n < 6; n += 1) await chat.say(prose(200 * KB, `part ${n}`));
    await chat.say("go on");
    off();
    const said = await system().model.waitForRequest(({ lastUser }) => lastUser === "go on");
    expect(JSON.stringify(said.body).length).toBeLessThan(2 * MB);
    expect((await chat.say("and now")).final.text).toBe("echo: and now");
  });
});
