import fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addPageRoutes } from "../../src/page-route.js";
import { TokenGate } from "../../src/token-gate.js";

const gate = new TokenGate("token");
let app: FastifyInstance;
beforeAll(() => {
  app = fastify();
  addPageRoutes(app, gate);
});
afterAll(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

describe("the web pages", () => {
  it("may run and load only what this gateway serves as a file", async () => {
    for (const url of ["/", "/?token=wrong", "/assets/theme.css"]) {
      const { headers } = await get(url);
      expect(headers["content-security-policy"], url).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
    }
  });

  it("are the chat with the cookie, and how to sign in without; neither is kept by a cache", async () => {
    const [cookie = ""] = [(await get("/?token=token")).headers["set-cookie"]].flat();
    const chat = await get("/", { cookie: cookie.split(";")[0] ?? "" });
    expect(chat.body).toContain("<textarea");
    expect(chat.body).not.toMatch(/<style|style=|<script>|onclick|(src|href)="(?!\/assets\/)/);
    const home = await get("/", { cookie: "troupe_0=wrong" });
    expect(home.body).toContain("You are not signed in");
    for (const { headers } of [chat, home]) expect(headers["cache-control"]).toBe("no-store");
  });

  it("say so when the token in the link is wrong", async () => {
    const { statusCode, headers, body } = await get("/?token=wrong");
    expect(statusCode).toBe(401);
    expect(headers["www-authenticate"]).toMatch(/^Bearer/);
    expect(headers["set-cookie"]).toBeUndefined();
    expect(body).toContain("not, or no longer, the right one");
  });

  it("are asked for again without being sent again", async () => {
    const first = await get("/assets/theme.css");
    expect(first.statusCode).toBe(200);
    expect(first.headers).toMatchObject({ "content-type": "text/css; charset=utf-8", "cache-control": "no-cache" });
    const etag = String(first.headers.etag);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get("/assets/theme.css", { "if-none-match": tag });
      expect(again.statusCode).toBe(304);
      expect(again.body).toBe("");
    }
    expect((await get("/assets/theme.css", { "if-none-match": '"other"' })).statusCode).toBe(200);
  });

  it.each(["chat.html", "tsconfig.json", "..%2Fpackage.json", "%2e%2e%2fsrc%2fmain.ts", "main.d.ts", ".tsbuildinfo"])(
    "are nothing else in the folder: %s",
    async (name) => {
      expect((await get(`/assets/${name}`)).statusCode).toBe(404);
    },
  );
});
