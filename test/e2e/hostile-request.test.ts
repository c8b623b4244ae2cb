import type { TroupeSystem } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Posted } from "../system/api-shapes.js";
import { Conversation } from "../system/conversation.js";
import { followEvents } from "../system/event-reader.js";
import { useTroupe } from "../system/use-troupe.js";
import { ask, expectNoInternals, expectProblem, type RawRequest } from "./hostile-exchange.js";

/** Requests that no friendly client sends: each gets the right answer or a problem document, and nothing dies of it. */
const system = useTroupe();
const MIB = 1024 * 1024;
const MESSAGES = "/v1/sessions/a/messages";

let pids: readonly number[];
const pidsOf = ({ gateways, orchestrators }: TroupeSystem): number[] =>
  [...gateways, ...orchestrators].map(({ pid }) => pid);
beforeAll(() => {
  pids = pidsOf(system());
});
afterAll(async () => {
  expect(pidsOf(system())).toEqual(pids);
  for (const service of [...system().gateways, ...system().orchestrators]) expect(service.isRunning).toBe(true);
  expectNoInternals((await ask(system(), { path: "/healthz" })).body);
  expect((await new Conversation(system(), "after all").say("still there?")).final.text).toBe("echo: still there?");
  // A client's nonsense is no failure of ours: an operator would be woken by it.
  for (const { output } of system().gateways)
    expect(output.lines.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
});

const send = (request: RawRequest) => ask(system(), request);
const post = (body: string | Buffer, headers: RawRequest["headers"] = {}) => send({ path: MESSAGES, body, headers });
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const padded = (size: number): string => `{"text":"fits"}`.padEnd(size, " ");

describe("a body", () => {
  it.each([
    ["cut short", `{"text":"a`, 400],
    ["with more behind it", `{"text":"a"} {}`, 400],
    ["in single quotes", `{'text':'a'}`, 400],
    ["of NaN", "NaN", 400],
    ["with a raw control character", `{"text":"a\u0001"}`, 400],
    ["that is not UTF-8", Buffer.from([...Buffer.from(`{"text":"a`), 0xff, 0xfe, ...Buffer.from(`"}`)]), 400],
    [
      "with half of a surrogate pair as bytes",
      Buffer.from([...Buffer.from(`{"text":"`), 0xed, 0xa0, 0x80, ...Buffer.from(`"}`)]),
      400,
    ],
    ["in UTF-16", Buffer.from(`{"text":"a"}`, "utf16le"), 400],
    ["of nesting alone", nested(400_000), 422],
    ["nested in an unknown field", `{"text":"a","x":${nested(400_000)}}`, 422],
    ["nested in a known field", `{"text":"a","attachments":${nested(400_000)}}`, 422],
    ["with an unknown field", `{"text":"a","evil":1}`, 422],
    ["with __proto__", `{"text":"a","__proto__":{"id":"x"}}`, 422],
    ["with constructor", `{"text":"a","constructor":{"prototype":{"id":"x"}}}`, 422],
    ["with a number beyond range as text", `{"text":1e999}`, 422],
    ["with a number beyond range as id", `{"text":"a","id":-1e400}`, 422],
    ["with half of a surrogate pair as text", `{"text":"\\ud800"}`, 422],
    ["with half of a surrogate pair as id", `{"text":"a","id":"\\udc00"}`, 422],
    ["with an id of 10 kB", `{"text":"a","id":"${"x".repeat(10_000)}"}`, 422],
    ["of null", "null", 422],
    ["of a string", `"text"`, 422],
    ["with 20,000 unknown fields", `{"text":"a",${Array.from({ length: 20_000 }, (_, n) => `"f${n}":1`).join()}}`, 422],
  ])("%s is refused", async (_what, body, status) => {
    const answer = await post(body);
    expect(answer.status, answer.raw.slice(0, 300)).toBe(status);
    expect(answer.body.length, "no long answer to nonsense").toBeLessThan(64 * 1024);
    expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expectNoInternals(answer.body);
  });

  it.each([
    null,
    "text/plain",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
    "application/json-seq",
    ";;;",
    "json",
  ])("of the type %s is 415", async (type) =>
    expectProblem(await post(`{"text":"a"}`, { "content-type": type }), 415, "unsupported_media_type"),
  );

  it("of exactly 1 MiB is taken, one byte more is not, told or not told of before", async () => {
    expect((await post(padded(MIB))).status).toBe(202);
    expectProblem(await post(padded(MIB + 1)), 413, "too_large");
    const chunked = { "content-length": null, "transfer-encoding": "chunked" };
    const inChunks = (size: number): string => `${size.toString(16)}\r\n${padded(size)}\r\n0\r\n\r\n`;
    expect((await post(inChunks(MIB), chunked)).status).toBe(202);
    expectProblem(await post(inChunks(MIB + 1), chunked), 413, "too_large");
  });

  it.each([
    ["longer than a number holds", { "content-length": "99999999999999999999" }],
    ["negative", { "content-length": "-1" }],
    ["no number", { "content-length": "x" }],
    ["told twice in one line", { "content-length": "5, 6" }],
    ["told in two ways", { "transfer-encoding": "chunked" }],
  ])("whose length is %s is refused", async (_what, headers) => {
    expectProblem(await post(`{"text":"a"}`, headers), 400);
  });

  it("that says it is enormous is refused before it comes", async () => {
    expectProblem(
      await send({
        path: MESSAGES,
        method: "POST",
        headers: { "content-type": "application/json", "content-length": "9999999999" },
      }),
      413,
    );
  });

  it("with a field twice means the last one", async () => {
    const { status, body } = await send({
      path: "/v1/sessions/twice/messages?wait=20",
      body: `{"text":"a","text":"b"}`,
    });
    expect(status).toBe(200);
    expect(Posted.parse(JSON.parse(body)).final?.text).toBe("echo: b");
  });
});

describe("text", () => {
  it.each([
    ["NUL", "a\0b"],
    ["a byte order mark", "\ufeffa\ufeff"],
    [
      "every control character",
      Array.from({ length: 32 }, (_, n) => String.fromCharCode(n)).join("") + "\u007f\u0085\u2028\u2029",
    ],
    ["bidirectional overrides and joiners", "\u202eabc\u2066\u200d\u200b"],
    ["what is no character", "\uffff\ufffe\u{10ffff}"],
    ["an event of its own", "x\n\nevent: final\ndata: {}\n\n"],
  ])("with %s comes through unchanged", async (what, text) => {
    const chat = new Conversation(system(), `text ${what}`);
    const { final } = await chat.say(text);
    expect((await chat.messages())[0]?.content).toBe(text);
    const [asked] = system().model.requests.filter(({ lastUser }) => lastUser === text);
    expect(asked).toBeDefined();
    expect(final.kind).toBe("answer");
  });

  it.each([
    ["emoji", "😀".repeat(250_000)],
    ["Chinese", "中".repeat(333_000)],
    ["Latin letters", "x".repeat(1_000_000)],
    ["quotation marks", '"'.repeat(500_000)],
    ["control characters", "\u0001".repeat(170_000)],
  ])("of 1 MB of %s is answered, and the conversation goes on", async (what, text) => {
    const chat = new Conversation(system(), `large ${what}`);
    const take = system().model.when(text.slice(0, 10), (_request, respond) => respond.text("that is long"));
    const { final } = await chat.say(text);
    take();
    expect(final).toMatchObject({ kind: "answer", text: "that is long" });
    expect((await chat.messages())[0]?.content === text).toBe(true);
    expect((await chat.say("and now?")).final.kind).toBe("answer");
  });

  it("of 1 MB each, waiting in a row, is answered one after the other", async () => {
    const chat = new Conversation(system(), "large queue");
    const gate = system().model.hold(/^😀/, (_request, respond) => respond.text("0"));
    const take = system().model.when(/^[😀中]/u, (request, respond) => respond.text(request.lastUser.slice(-1)));
    const first = chat.say("😀".repeat(250_000));
    await gate.arrived;
    const texts = [1, 2, 3, 4].map((n) => `${"中".repeat(300_000)}${n}`);
    for (const text of texts) await chat.send(text, { id: text.slice(-1) });
    gate.release();
    expect((await first).final.text).toBe("0");
    const finals = await Promise.all(texts.map((text) => chat.say(text, { id: text.slice(-1) })));
    expect(finals.map(({ final }) => final.text)).toEqual(["1", "2", "3", "4"]);
    take();
  });

  it("from the model of 1 MB ends in an honest error at worst", async () => {
    const chat = new Conversation(system(), "large answer");
    const take = system().model.when("tell me all", (_request, respond) => respond.text("x".repeat(1_000_000)));
    const { final } = await chat.say("tell me all");
    take();
    if (final.kind === "answer") expect(final.text).toHaveLength(1_000_000);
    else expect(final).toMatchObject({ kind: "error", text: expect.stringMatching(/./) });
    expect((await chat.say("shorter")).final.text).toBe("echo: shorter");
  });
});

describe("a query or header", () => {
  it.each(["NaN", "-1", "1e9", "1e2", "Infinity", "0x10", "", "%20", "301", "1&wait=2", "1,2", "[]", "9".repeat(400)])(
    "wait=%s is refused",
    async (wait) =>
      expectProblem(await send({ path: `${MESSAGES}?wait=${wait}`, body: `{"text":"a"}` }), 422, "invalid_field"),
  );

  it.each(["garbage", "-1", "1.5", "1e3", "9".repeat(40), "0x1", "1 2", "\u00ff"])(
    "Last-Event-ID %s is refused",
    async (id) => {
      expectProblem(
        await send({ path: "/v1/sessions/a/events", headers: { "last-event-id": id } }),
        422,
        "invalid_field",
      );
    },
  );

  it("Last-Event-ID of an event that never was does not keep back what happens from now on", async () => {
    const events = await followEvents(system(), "far ahead", "999999999999999");
    await new Conversation(system(), "far ahead").say("hello");
    await events.next(({ event }) => event === "final");
    events.close();
  });

  it.each([
    "cursor=!",
    "cursor=",
    "cursor=Li4",
    "cursor=%00",
    `cursor=${"A".repeat(9_000)}`,
    "cursor=a&cursor=b",
    "limit=-1",
    "limit=1e3",
    "limit=99999999999999999999",
    "channel=../http",
    "channel=__proto__",
    "channel=",
  ])("GET /v1/sessions?%s is refused", async (query) => {
    expectProblem(await send({ path: `/v1/sessions?${query}` }), 422, "invalid_field");
  });

  it("cursor of a place that no session has goes on from there", async () => {
    const cursor = Buffer.from("http.zzzzzz").toString("base64url");
    expect((await send({ path: `/v1/sessions?cursor=${cursor}` })).status).toBe(200);
  });

  it.each(["from=-1", "from=NaN", "from=1e3", `from=${"9".repeat(16)}`, "limit=0", "limit=1001"])(
    "messages?%s is refused",
    async (query) => {
      expectProblem(await send({ path: `${MESSAGES}?${query}` }), 422, "invalid_field");
    },
  );
});
