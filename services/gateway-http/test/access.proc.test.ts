import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningGateway, startWorld, TOKEN, type World } from "./gateway-harness.js";
import { rawBytes, rawRequest } from "./raw-request.js";

let world: World;
let gateway: RunningGateway;
beforeAll(async () => {
  world = await startWorld();
  gateway = await world.startGateway();
});
afterAll(() => world?.stop());

describe("token", () => {
  it.each([
    ["none", {}],
    ["a wrong one", { authorization: "Bearer wrong" }],
    ["an empty one", { authorization: "Bearer " }],
    ["another scheme", { authorization: `Basic ${TOKEN}` }],
    ["a prefix of it", { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ["a wrong one beside a good cookie", { authorization: "Bearer wrong", cookie: "COOKIE" }],
  ])("%s is refused with 401 and how to do it", async (_what, headers) => {
    const cookie = await cookieOf(gateway);
    const sent = JSON.parse(JSON.stringify(headers).replace("COOKIE", cookie));
    const {
      status,
      body,
      headers: answered,
    } = await rawRequest(gateway, "/v1/sessions", {
      token: false,
      headers: sent,
    });
    expect(status).toBe(401);
    expect(answered["content-type"]).toMatch(/^application\/problem\+json/);
    expect(answered["www-authenticate"]).toMatch(/^Bearer/);
    expect(JSON.parse(body)).toMatchObject({ title: "Unauthorized", status: 401, code: "unauthorized" });
  });

  it("is needed for every path but the front page, health and readiness", async () => {
    const open = { token: false };
    for (const path of ["/v1/sessions", "/v1/models", "/metrics", "/nowhere", "/v1/sessions/a/events"]) {
      expect((await rawRequest(gateway, path, open)).status, path).toBe(401);
    }
    for (const path of ["/", "/healthz", "/readyz"]) {
      expect((await rawRequest(gateway, path, open)).status, path).toBe(200);
    }
  });

  it("in the console's link is swapped for a cookie that browsers keep to themselves", async () => {
    const swap = await rawRequest(gateway, `/?token=${TOKEN}`, { token: false });
    expect(swap.status).toBe(303);
    expect(swap.headers.location).toBe("/");
    const [cookie = ""] = swap.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).not.toContain(TOKEN);
    const headers = { cookie: `other=1; ${cookie.split(";")[0]}` };
    expect((await rawRequest(gateway, "/v1/sessions", { token: false, headers })).status).toBe(200);
    // What leaks as a cookie is not good as a token.
    const value = cookie.split(";")[0]?.split("=")[1];
    const bearer = { authorization: `Bearer ${value}` };
    const replayed = await rawRequest(gateway, "/v1/sessions", { token: false, headers: bearer });
    expect(replayed.status).toBe(401);
  });

  it("that is wrong in the link gives no cookie", async () => {
    const { status, headers } = await rawRequest(gateway, "/?token=wrong", { token: false });
    expect(status).toBe(401);
    expect(headers["set-cookie"]).toBeUndefined();
  });
});

describe("Host and Origin", () => {
  const ask = (path: string, headers: Record<string, string>) => rawRequest(gateway, path, { headers });

  it.each(["localhost", "localhost:9999", "127.0.0.1", "127.0.0.1:80", "[::1]:7070", "LOCALHOST:1"])(
    "serves Host %s",
    async (host) => {
      expect((await ask("/v1/sessions", { host })).status).toBe(200);
    },
  );

  it.each(["evil.example", "evil.example:7070", "localhost.evil.example", "127.0.0.1.nip.io", "a@localhost"])(
    "refuses Host %s on every route, health included",
    async (host) => {
      for (const path of ["/v1/sessions", "/healthz", "/readyz", "/", "/metrics"]) {
        const { status, body } = await ask(path, { host });
        expect(status, path).toBe(403);
        expect(JSON.parse(body).code).toBe("host_not_allowed");
      }
    },
  );

  it("accepts no Origin, and one that is the same as Host", async () => {
    const host = `localhost:${gateway.port}`;
    expect((await ask("/v1/sessions", { host, origin: `http://${host}` })).status).toBe(200);
    expect((await ask("/v1/sessions", { host, origin: `https://${host}` })).status).toBe(200);
  });

  it.each(["http://evil.example", "null", "http://localhost:1", "file://", "http://127.0.0.1"])(
    "refuses Origin %s",
    async (origin) => {
      const { status, body } = await ask("/v1/sessions", { host: `localhost:${gateway.port}`, origin });
      expect(status).toBe(403);
      expect(JSON.parse(body).code).toBe("origin_not_allowed");
    },
  );

  it("tells OpenAI clients in their own form", async () => {
    const { status, body } = await ask("/v1/models", { host: "evil.example" });
    expect(status).toBe(403);
    expect(JSON.parse(body).error.code).toBe("host_not_allowed");
  });
});

describe("problems", () => {
  const json = { "content-type": "application/json" };
  const post = (path: string, body: string, headers: Record<string, string> = json) =>
    rawRequest(gateway, path, { method: "POST", body, headers });

  it.each([
    ["malformed JSON", "{", 400, "malformed_json"],
    ["no object", "[]", 422, "invalid_field"],
    ["no body", "", 422, "invalid_field"],
  ])("%s: %s is %i", async (_what, body, status, code) => {
    const answer = await post("/v1/sessions/a/messages", body);
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toMatch(/^application\/problem\+json/);
    expect(JSON.parse(answer.body)).toMatchObject({ status, code });
  });

  it.each([
    [{ text: 1 }, "text"],
    [{ text: "" }, "text"],
    [{ text: "\ud800" }, "text"],
    [{ text: "a", id: "" }, "id"],
    [{ text: "a", id: "x".repeat(513) }, "id"],
    [{ text: "a", wait: 3 }, "wait"],
    [{ text: "a", attachments: [{ name: "f", type: "t", url: "u" }] }, "attachments"],
  ])("field %j is 422 and names %s", async (body, path) => {
    const answer = await post("/v1/sessions/a/messages", JSON.stringify(body));
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body).errors).toEqual([{ path, message: expect.any(String) }]);
  });

  it.each([
    "/v1/sessions/a/messages?wait=301",
    "/v1/sessions/a/messages?wait=-1",
    "/v1/sessions/a/messages?wait=soon",
    "/v1/sessions/a/messages?wait=1&wait=2",
  ])("POST %s is 422", async (path) => {
    const answer = await post(path, '{"text":"a"}');
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body).errors[0].path).toBe("wait");
  });

  it.each([
    ["/v1/sessions?limit=0", 422],
    ["/v1/sessions?limit=1001", 422],
    ["/v1/sessions?channel=smoke", 422],
    ["/v1/sessions?cursor=nonsense!", 422],
    ["/v1/sessions/a/messages?limit=1001", 422],
    ["/v1/sessions/a/messages?from=-1", 422],
    ["/v1/sessions/unknown", 404],
    ["/v1/sessions/unknown/messages", 404],
    ["/v1/sessions/%ff", 400],
    ["/v1/nowhere", 404],
    [`/v1/sessions/${"x".repeat(481)}`, 422],
  ])("GET %s is %i", async (path, status) => {
    const answer = await rawRequest(gateway, path);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ status, code: expect.any(String) });
  });

  it.each(["cancel", "reset"])("%s of an unknown session is 404", async (what) => {
    expect((await post(`/v1/sessions/unknown/${what}`, "")).status).toBe(404);
  });

  it("another type than JSON is 415", async () => {
    const answer = await post("/v1/sessions/a/messages", "text=a", {
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(answer.status).toBe(415);
  });

  it.each([1024 * 1024, 8 * 1024 * 1024])("a body over 1 MiB is 413, text of %i", async (size) => {
    const body = JSON.stringify({ text: "x".repeat(size) });
    const answer = await gateway.call("POST", "/v1/sessions/a/messages", body);
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ code: "too_large" });
  });

  it("a text that NATS cannot take is 413 too", async () => {
    const body = JSON.stringify({ text: "x".repeat(1024 * 1024 - 20) });
    const answer = await gateway.call("POST", "/v1/sessions/a/messages", body);
    expect([413, 422]).toContain(answer.status);
  });

  it("another method is 405 and names those that work", async () => {
    const answer = await rawRequest(gateway, "/v1/sessions/a/messages", { method: "DELETE" });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow?.toString().split(", ").toSorted()).toEqual(["GET", "HEAD", "POST"]);
    expect(JSON.parse(answer.body)).toMatchObject({ code: "method_not_allowed" });
  });

  it("bytes that are no HTTP get an answer, not silence", async () => {
    expect(await rawBytes(gateway.port, "nonsense\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe("service pages", () => {
  it("shows how to use it", async () => {
    const { body, headers } = await rawRequest(gateway, "/", { token: false });
    expect(headers["content-type"]).toMatch(/^text\/html/);
    expect(body).toContain(`http://127.0.0.1:${gateway.port}/v1/sessions/demo/messages`);
  });

  it("says whether it may be sent work", async () => {
    const { body } = await gateway.json("GET", "/readyz");
    expect(body).toMatchObject({ ready: true, components: { nats: { state: "ok" } } });
  });

  it("counts requests by route and status", async () => {
    await gateway.call("GET", "/v1/sessions/unknown");
    const text = await (await gateway.call("GET", "/metrics")).text();
    expect(text).toMatch(
      /troupe_http_requests_total\{[^}]*route="\/v1\/sessions\/:session"[^}]*status="404"[^}]*\} [1-9]/,
    );
  });
});

async function cookieOf(from: RunningGateway): Promise<string> {
  const { headers } = await rawRequest(from, `/?token=${TOKEN}`, { token: false });
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}
