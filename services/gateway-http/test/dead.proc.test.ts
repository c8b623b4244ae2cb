import { DeadLetter, deadSubject, digestOf, encode, mailSubject, UserMessage } from "@troupe/contracts";
import { mailSender, StreamFull, Unavailable } from "@troupe/jetstream";
import { createLogger } from "@troupe/platform";
import fastify from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Principal } from "../src/principal.js";
import { addProblemAnswers } from "../src/problem-answers.js";
import { addDeadRoutes } from "../src/routes/dead.js";
import { sessionRef } from "../src/session-access.js";
import { startWorld, type World } from "./gateway-harness.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());
beforeEach(() => {
  world.orchestrator.script = ({ mail }) => `you said: ${mail.text}`;
});

const call = (method: string, path: string, body?: unknown) => world.gateway.call(method, path, body);
async function json(method: string, path: string, body?: unknown) {
  const response = await call(method, path, body);
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : (JSON.parse(text) as Record<string, unknown>) };
}

async function put(session: string, text: string): Promise<string> {
  const subject = deadSubject("mail", sessionRef(session).key);
  const { seq } = await mailSender(world.bus).send({ subject, id: crypto.randomUUID(), body: text });
  return String(seq);
}

/** Dead mail of a person. */
function letter(session: string, text: string, more: Partial<DeadLetter> = {}): string {
  const { key } = sessionRef(session);
  const head = { v: 1, id: "m", kind: "user", turn: "t_1", messageId: "m1", principal: "owner" } as const;
  const body = encode(UserMessage, { ...head, text, digest: digestOf(text) });
  const subject = mailSubject("session", key, "in");
  const id = crypto.randomUUID();
  return encode(DeadLetter, { v: 1, id, kind: "mail", subject, seq: 7, reason: "why", body, ...more });
}

const Page = z.object({ dead: z.array(z.object({ id: z.string() })), next: z.string().nullable() });

describe("dead letters over HTTP", () => {
  it("are listed without what was said, shown whole, and dropped", async () => {
    const id = await put("listed", letter("listed", "a secret", { reason: "x".repeat(1_000) }));
    const page = await json("GET", "/v1/dead?session=listed&kind=mail");
    const item = {
      id,
      kind: "mail",
      session: "http:listed",
      at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      state: "ok",
      subject: "mail.session.http.listed.in",
      seq: 7,
      size: expect.any(Number),
      retryable: true,
    };
    const reason = `${"x".repeat(299)}…`;
    expect(page).toEqual({ status: 200, body: { dead: [{ ...item, reason }], next: null, total: 1 } });
    const whole = await json("GET", `/v1/dead/${id}`);
    const body = expect.stringContaining("a secret");
    const more = { reason: "x".repeat(1_000), refusal: null, truncated: false, body };
    expect(whole).toEqual({ status: 200, body: { ...item, ...more } });
    const dropped = await call("DELETE", `/v1/dead/${id}`);
    expect([dropped.status, await dropped.text()]).toEqual([204, ""]);
    for (const method of ["GET", "DELETE"]) expect((await json(method, `/v1/dead/${id}`)).status).toBe(404);
  });

  it("come in pages, the newest first", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await put("paged", letter("paged", "hi")));
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await json("GET", `/v1/dead?session=http:paged&limit=2${cursor}`);
      const page = Page.parse(body);
      seen.push(...page.dead.map(({ id }) => id));
      if (page.next === null) break;
      cursor = `&cursor=${page.next}`;
    }
    expect(seen).toEqual(ids.toReversed());
  });

  it("of a person are answered when retried, in a turn that is told; a second retry finds nothing", async () => {
    const id = await put("again", letter("again", "hello"));
    const { status, body } = await json("POST", `/v1/dead/${id}/retry`);
    expect(status).toBe(200);
    const turn = expect.stringMatching(/^t_[0-9a-f]{32}$/);
    expect(body).toEqual({ id, kind: "mail", session: "http:again", outcome: "sent", turn, duplicate: false });
    await expect.poll(() => world.orchestrator.turns).toContain(body?.turn);
    expect(await json("POST", `/v1/dead/${id}/retry`)).toMatchObject({ status: 404, body: { code: "unknown_letter" } });
  });

  it("that cannot be retried say why, and stay", async () => {
    const id = await put("stuck", letter("stuck", "x", { body: "{" }));
    const refused = await json("POST", `/v1/dead/${id}/retry`);
    expect(refused).toMatchObject({ status: 409, body: { code: "not_retryable", status: 409 } });
    expect(refused.body?.detail).toMatch(/cannot be read and would come back/);
    const shown = await json("GET", `/v1/dead/${id}`);
    expect(shown.body).toMatchObject({ retryable: false, refusal: refused.body?.detail });
  });

  it("that nobody can read, or only a newer version, are shown as what they are", async () => {
    const unreadable = await put("odd", "no letter\u0000");
    const newer = await put("odd", '{"v":7}');
    const { body } = await json("GET", "/v1/dead?session=odd");
    expect(body?.dead).toMatchObject([
      { id: newer, state: "newer", kind: "mail", session: "http:odd", subject: null, retryable: false },
      { id: unreadable, state: "unreadable", reason: expect.stringMatching(/not JSON/), retryable: false },
    ]);
    expect((await json("GET", `/v1/dead/${unreadable}`)).body).toMatchObject({ body: "no letter\u0000" });
  });

  it("go with their session when it is erased", async () => {
    await json("POST", "/v1/sessions/erased/messages?wait=30", { text: "hi" });
    const id = await put("erased", letter("erased", "a secret"));
    expect((await call("DELETE", "/v1/sessions/erased")).status).toBe(204);
    expect((await json("GET", `/v1/dead/${id}`)).status).toBe(404);
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=x", "limit"],
    ["limit=1&limit=2", "limit"],
    ["kind=letter", "kind"],
    ["cursor=0", "cursor"],
    ["cursor=-1", "cursor"],
    ["session=", "session"],
    ["session=a&session=b", "session"],
  ])("refuse the query %s with 422", async (query, path) => {
    const { status, body } = await json("GET", `/v1/dead?${query}`);
    expect({ status, errors: body?.errors }).toMatchObject({ status: 422, errors: [{ path }] });
  });

  it("know neither ids that are none nor other methods", async () => {
    for (const id of ["0", "x", "1.5", "-1", "99999999999", "9".repeat(20), "=00"]) {
      for (const [method, path] of [
        ["GET", ""],
        ["DELETE", ""],
        ["POST", "/retry"],
      ] as const) {
        expect((await json(method, `/v1/dead/${id}${path}`)).status, `${method} ${id}`).toBe(404);
      }
    }
    expect((await json("PUT", "/v1/dead/1")).status).toBe(405);
    const anonymous = await fetch(`${world.gateway.url}/v1/dead`);
    expect(anonymous.status).toBe(401);
  });
});

describe("whoever asks", () => {
  const log = createLogger({ service: "test", level: "silent" });
  const full = (): Promise<never> => Promise.reject(new StreamFull("MAIL"));
  const away = (): Promise<never> => Promise.reject(new Unavailable("no answer"));

  function appFor(role: Principal["role"], retry: () => Promise<never>) {
    const app = fastify();
    app.decorateRequest("principal");
    app.addHook("onRequest", async (request) => {
      request.principal = { id: "someone", role };
    });
    addProblemAnswers(app, { log, connected: () => true });
    const dead = {
      list: async () => ({ letters: [], next: null, total: 0 }),
      get: async () => null,
      retry,
      drop: async () => true,
    };
    addDeadRoutes(app, { dead, admission: { check: () => undefined }, log });
    return app;
  }

  it("needs the role admin or operator for all of it", async () => {
    const routes = [
      ["GET", "/v1/dead"],
      ["GET", "/v1/dead/1"],
      ["POST", "/v1/dead/1/retry"],
      ["DELETE", "/v1/dead/1"],
    ] as const;
    for (const [method, url] of routes) {
      const refused = await appFor("user", full).inject({ method, url });
      expect([refused.statusCode, refused.json()], `${method} ${url}`).toMatchObject([403, { code: "forbidden" }]);
      for (const role of ["admin", "operator"] as const) {
        expect((await appFor(role, full).inject({ method, url })).statusCode, `${role} ${url}`).not.toBe(403);
      }
    }
  });

  it("is asked to come again when there is no room, or NATS is away", async () => {
    for (const retry of [full, away]) {
      const answer = await appFor("operator", retry).inject({ method: "POST", url: "/v1/dead/1/retry" });
      expect(answer.statusCode).toBe(503);
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    }
  });
});
