import type { FastifyInstance } from "fastify";
import { OWNER } from "./principal.js";
import { HttpProblem } from "./problem.js";
import { sourceCheck, type SourceRules } from "./request-source.js";
import type { TokenGate } from "./token-gate.js";

export interface AccessRules {
  readonly source: SourceRules;
  readonly gate: TokenGate;
}

/** Before every route: where the request comes from, and, unless the route is public, its token. */
export function addAccessControl(app: FastifyInstance, { source, gate }: AccessRules): void {
  const refused = sourceCheck(source);
  // Declared ahead, so that all requests keep one shape; of a public route it is not to be used.
  app.decorateRequest("principal");
  app.addHook("onRequest", async (request) => {
    const problem = refused(request.headers);
    if (problem !== null) throw problem;
    if (request.routeOptions.config.public === true) return;
    const cookie = cookieName(request.socket.localPort);
    if (!gate.admits(request.headers, cookie)) throw unauthorized();
    request.principal = OWNER;
  });
}

/** Cookies do not keep ports apart: two gateways on one machine must not overwrite each other's. */
export function cookieName(port: number | undefined): string {
  return `troupe_${port ?? 0}`;
}

export function unauthorized(): HttpProblem {
  return new HttpProblem(
    401,
    "unauthorized",
    "send the token as Authorization: Bearer <token>, or open the link with ?token= in a browser",
    { headers: { "www-authenticate": 'Bearer realm="troupe"' } },
  );
}
