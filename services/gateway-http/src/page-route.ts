import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { cookieName, unauthorized } from "./access-control.js";
import { homePage } from "./home-page.js";
import { loadChatPage, loadPageAssets, type PageAsset } from "./page-asset.js";
import { PAGE_HEADERS } from "./page-headers.js";
import { HttpProblem, readFields } from "./problem.js";
import type { TokenGate } from "./token-gate.js";

const HomeQuery = z.object({ token: z.string("expected one token").optional() });

/** The front page, which is the chat for whoever has signed in, with the token's exchange, and what the pages load. */
export function addPageRoutes(app: FastifyInstance, gate: TokenGate): void {
  const open = { config: { public: true } };
  const assets = loadPageAssets();
  const chat = loadChatPage(assets);

  // Public because it says nothing of anybody: a browser that followed a link from another site sends no cookie yet.
  app.get("/", open, async (request, reply) => {
    const { token } = readFields(HomeQuery, request.query);
    // The same address is another page once there is a cookie.
    void reply.headers(PAGE_HEADERS).header("cache-control", "no-store");
    const name = cookieName(request.socket.localPort);
    if (token === undefined) {
      if (gate.admits(request.headers, name)) return reply.type(chat.type).send(chat.body);
      return reply.type(chat.type).send(homePage(request.host));
    }
    if (!gate.isToken(token)) {
      const { status, headers } = unauthorized();
      return reply.code(status).headers(headers).type(chat.type).send(homePage(request.host, true));
    }
    const cookie = `${name}=${gate.cookieValue}; Path=/; HttpOnly; SameSite=Strict`;
    return reply.header("set-cookie", cookie).redirect("/", 303);
  });

  // Public, too: it is the same for everybody.
  app.get<{ Params: { name: string } }>("/assets/:name", open, async (request, reply) => {
    const asset = assets.get(request.params.name);
    if (asset === undefined) throw new HttpProblem(404, "not_found", "there is no such file");
    return sendAsset(request, reply, asset);
  });
}

/** With every request the browser asks whether what it has is still right, so that an upgrade never mixes two versions. */
function sendAsset(request: FastifyRequest, reply: FastifyReply, { type, body, etag }: PageAsset): FastifyReply {
  void reply.headers(PAGE_HEADERS).headers({ etag, "cache-control": "no-cache" });
  if (matchesTag(request.headers["if-none-match"], etag)) return reply.code(304).send();
  return reply.type(type).send(body);
}

/** Weak comparison (RFC 9110, 13.1.2): a proxy that compresses makes a tag weak. */
function matchesTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}
