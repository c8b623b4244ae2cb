import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { ask, expectNoInternals, expectProblem, type RawRequest } from "./hostile-exchange.js";

/** Who asks, from where, and for which conversation: each of them as an attacker or a careless client would write it. */
const system = useTroupe();
const send = (request: RawRequest) => ask(system(), request);
const Sessions = z.object({ sessions: z.array(z.object({ session: z.string() })) });
const port = (): string => new URL(system().url).port;

describe("a session id", () => {
  const ids = [
    "a.b",
    "a b",
    "a/b",
    "../a",
    "%2F",
    "a%b",
    "a\\b",
    "a?b#c",
    "a*b>",
    "$JS.API",
    "_INBOX.x",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "toString",
    "😀👨‍👩‍👧‍👦",
    "中文会话",
    "e\u0301",
    "é",
    "\0",
    "a\0b",
    "\r\nx: y",
    "\u202e",
    " ",
    "HTTP:a",
    "work:a",
    ":a",
    "a:",
    "http:http:a",
    "=",
    "=00",
    "a".repeat(480),
    "null",
    "undefined",
    "NaN",
    "true",
    "0",
    "-1",
    "events",
    "messages",
  ];

  it("of any characters names one conversation of its own, and comes back as it was written", async () => {
    const answers = await Promise.all(
      ids.map((id) => new Conversation(system(), id).say(`I am ${JSON.stringify(id)}`)),
    );
    for (const [n, id] of ids.entries()) {
      const full = id === "http:http:a" ? id : `http:${id}`;
      expect(answers[n]?.session).toBe(full);
      const messages = await new Conversation(system(), id).messages();
      expect(messages[0]?.content, "its own message and no other's").toBe(`I am ${JSON.stringify(id)}`);
      expect(messages).toHaveLength(2);
      expect(await new Conversation(system(), full).messages()).toEqual(messages);
    }
    const { body } = await system().api("/v1/sessions?limit=1000");
    const listed = Sessions.parse(body).sessions.map(({ session }) => session);
    expect(listed).toEqual(expect.arrayContaining(ids.map((id) => (id === "http:http:a" ? id : `http:${id}`))));
    expect(new Set(listed).size).toBe(listed.length);
  });

  it.each([".", ".."])("%s is one like any other for a client that leaves paths alone", async (id) => {
    const path = `/v1/sessions/${id}/messages`;
    expect((await send({ path: `${path}?wait=20`, body: `{"text":"dots ${id}"}` })).body).toContain(
      `"session":"http:${id}"`,
    );
    expect((await send({ path })).body).toContain(`"content":"dots ${id}"`);
  });

  it.each(["cli:a", "telegram:42", "cron:a", "webhook:__proto__"])(
    "with the channel prefix of %s is that channel's",
    async (id) => {
      expect((await new Conversation(system(), id).say("hi")).session).toBe(id);
      expect((await new Conversation(system(), id.slice(id.indexOf(":") + 1)).get("")).body).not.toMatchObject({
        session: id,
      });
    },
  );

  it.each([
    ["that is no escape", "%zz", 400],
    ["cut within an escape", "a%e4%b8", 400],
    ["of bytes that are not UTF-8", "%ff", 400],
    ["with half of a surrogate pair, percent-encoded", "%ed%a0%80", 400],
    ["with an overlong slash", "..%c0%af", 400],
    ["that is empty behind its channel", "http:", 422],
    ["of 481 characters", "x".repeat(481), 422],
    ["of 10 kB", "x".repeat(10_000), 422],
    ["of 100 emoji", encodeURIComponent("😀".repeat(100)), 422],
  ])("%s is refused on every route", async (_what, id, status) => {
    const path = `/v1/sessions/${id}`;
    expectProblem(await send({ path }), status);
    expectProblem(await send({ path: `${path}/messages`, body: `{"text":"a"}` }), status);
    expectProblem(await send({ path: `${path}/events` }), status);
    expectProblem(await send({ path: `${path}/reset`, method: "POST" }), status);
    expectProblem(await send({ path, method: "DELETE" }), status);
  });

  it("is not what a path with more or fewer slashes says", async () => {
    for (const path of [
      "/v1/sessions//messages",
      "/v1/sessions/a/b/messages",
      "/v1/sessions/a//messages",
      "//v1/sessions/a",
      "/v1/sessions/../sessions/a/x",
    ]) {
      const answer = await send({ path, body: `{"text":"a"}` });
      expect([400, 404, 405, 422], `${path}: ${answer.raw.slice(0, 200)}`).toContain(answer.status);
      expectNoInternals(answer.body);
    }
  });

  it("as raw bytes in the path is not taken for another text", async () => {
    const answer = await send({ path: "/v1/sessions/中文会话" });
    if (answer.status === 200) expect(answer.body).toContain("http:中文会话");
    else expect([400, 404]).toContain(answer.status);
  });

  it("longer than any URL may be is refused", async () => {
    expectProblem(await send({ path: `/v1/sessions/${"x".repeat(20_000)}` }), 431);
  });
});

describe("a token", () => {
  it.each([
    ["that is missing", null],
    ["of another scheme", "Basic TOKEN"],
    ["that is empty", "Bearer "],
    ["that is wrong", "Bearer x"],
    ["twice", "Bearer TOKEN, Bearer TOKEN"],
    ["with more behind it", "Bearer TOKENx"],
    ["cut short", "Bearer TOK"],
    ["of 8 kB", `Bearer ${"x".repeat(8_000)}`],
    ["that is not ASCII", "Bearer \u00fc\u4e2d"],
    ["without a scheme", "TOKEN"],
  ])("%s is 401, with how to do it", async (_what, authorization) => {
    const value =
      authorization?.replaceAll("TOKEN", system().token).replace("TOK ", system().token.slice(0, -1)) ?? null;
    const answer = await send({ headers: { authorization: value } });
    expectProblem(answer, 401, "unauthorized");
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect(answer.body).not.toContain(system().token);
  });

  it("that is wrong opens no event stream and takes no body", async () => {
    expectProblem(await send({ path: "/v1/sessions/a/events", headers: { authorization: "Bearer x" } }), 401);
    const big = {
      path: "/v1/sessions/a/messages",
      body: `{"text":"${"x".repeat(900_000)}"}`,
      headers: { authorization: null },
    };
    expectProblem(await send(big), 401);
  });

  it("is not taken from the address, except for the page that swaps it", async () => {
    expectProblem(await send({ path: `/v1/sessions?token=${system().token}`, headers: { authorization: null } }), 401);
  });
});

describe("Host and Origin", () => {
  it.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "localhost:PORT@evil.example",
    "user@localhost:PORT",
    "localhost:PORT/x",
    "localhost:99999x",
    "localhost#x",
    "127.1",
    "2130706433",
    "0x7f000001",
    "[::1",
    "[::1]x",
    "0.0.0.0",
    "localhost.",
    "localhost,evil.example",
    "\u4e2d",
    "",
  ])("Host %s is refused before anything else", async (host) => {
    for (const request of [
      {},
      { path: "/" },
      { path: "/healthz" },
      { path: "/v1/sessions/a/messages", body: `{"text":"a"}` },
    ]) {
      const answer = await send({ ...request, headers: { host: host.replace("PORT", port()) } });
      expectProblem(answer, 403, "host_not_allowed");
    }
  });

  it("no Host at all is no request", async () => expectProblem(await send({ headers: { host: null } }), 400));

  it("a full address in place of a path does not get around it", async () => {
    const answer = await send({ path: "http://evil.example/v1/sessions", headers: { host: "evil.example" } });
    expectProblem(answer, 403, "host_not_allowed");
  });

  it.each([
    "null",
    "http://evil.example",
    "http://evil.example@127.0.0.1:PORT",
    "http://127.0.0.1:PORT@evil.example",
    "http://127.0.0.1:PORT.evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "file://",
    "chrome-extension://x",
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1:PORT, http://evil.example",
    "",
    " ",
    "javascript:",
  ])("Origin %s is refused", async (origin) => {
    const answer = await send({ headers: { origin: origin.replaceAll("PORT", port()) } });
    expectProblem(answer, 403, "origin_not_allowed");
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  });

  it("our own page is served", async () => {
    expect((await send({ headers: { origin: system().url } })).status).toBe(200);
  });

  it.each(["OPTIONS", "TRACE", "PROPFIND", "PUT", "PATCH"])(
    "%s is not answered with anything of use",
    async (method) => {
      const answer = await send({ method, headers: { "access-control-request-method": "POST" } });
      expect([400, 404, 405]).toContain(answer.status);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    },
  );
});

describe("the OpenAI protocol", () => {
  const nested = "[".repeat(300_000) + "]".repeat(300_000);
  const chat = (fields: string, headers: RawRequest["headers"] = {}) => {
    const body = `{"model":"troupe","messages":[{"role":"user","content":"hi"}]${fields}}`;
    return send({ path: "/v1/chat/completions", body, headers });
  };

  it.each([
    ["an idempotency key of 10 kB", "", { "idempotency-key": "k".repeat(10_000) }, 400],
    ["a session of 10 kB", "", { "x-troupe-session": "s".repeat(10_000) }, 400],
    ["a user of 10 kB", `,"user":"${"u".repeat(10_000)}"`, {}, 400],
    ["a user of half a character", `,"user":"\\ud800"`, {}, 400],
    ["a number beyond range", `,"n":1e999`, {}, 400],
    ["a stream that is no boolean", `,"stream":"yes"`, {}, 400],
    ["nesting in a message", `,"messages":[{"role":"user","content":"hi","x":${nested}}]`, {}, 400],
    ["nesting in a field that is ignored", `,"metadata":${nested}`, {}, 200],
    ["content of nesting", `,"messages":[{"role":"user","content":${nested}}]`, {}, 400],
    ["100,000 messages of no use", `,"messages":[${Array.from({ length: 100_000 }, () => "{}").join()}]`, {}, 400],
  ])("answers %s in its own form", async (_what, fields, headers, status) => {
    const answer = await chat(fields, headers);
    expect(answer.status, answer.raw.slice(0, 300)).toBe(status);
    expectNoInternals(answer.body);
    expect(answer.body.length).toBeLessThan(16_000);
    if (status !== 200)
      expect(JSON.parse(answer.body)).toMatchObject({
        error: { message: expect.any(String), code: expect.any(String) },
      });
  });
});
