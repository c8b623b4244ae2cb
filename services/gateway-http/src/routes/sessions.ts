import { CHANNELS } from "@troupe/contracts";
import { childOf } from "@troupe/platform";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { cancelTurn } from "../cancellation.js";
import { type ControlRequest, sendControl } from "../control-mail.js";
import type { Gateway } from "../gateway.js";
import { readFields } from "../problem.js";
import { loadSession, originFor, sessionRef } from "../session-access.js";
import { eraseSession, eraseState } from "../session-erasure.js";
import { decodeCursor, listSessions } from "../session-list.js";
import { sessionView } from "../session-view.js";
import type { SessionPath } from "./session-path.js";

const MAX_PAGE = 1000;
const LIMIT_FORM = `expected a whole number from 1 to ${MAX_PAGE}`;

const ListQuery = z.object({
  limit: z
    .string(LIMIT_FORM)
    .regex(/^\d{1,4}$/, LIMIT_FORM)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE, LIMIT_FORM)
    .default(100),
  cursor: z.string("expected one cursor").transform(decodeCursor).optional(),
  channel: z.enum(CHANNELS, `expected one of: ${CHANNELS.join(", ")}`).optional(),
});

const NoBody = z.strictObject({}).nullish();

/** Looking at sessions, and cancel, reset and erase. */
export function addSessionRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.get("/v1/sessions", async (request) => {
    const { cursor: after, channel, limit } = readFields(ListQuery, request.query);
    return listSessions(gateway.sessions, { after, channel, limit }, gateway.log);
  });

  app.get<SessionPath>("/v1/sessions/:session", async (request) => {
    const session = sessionRef(request.params.session);
    return sessionView(session.text, await loadSession(gateway, session), Date.now());
  });

  app.post<SessionPath>("/v1/sessions/:session/cancel", async (request) => {
    return cancelTurn(gateway, await knownControlRequest(gateway, request, "cancel"));
  });

  app.post<SessionPath>("/v1/sessions/:session/reset", async (request) => {
    const { generation } = await sendControl(gateway, await knownControlRequest(gateway, request, "reset"));
    return { generation };
  });

  app.delete<SessionPath>("/v1/sessions/:session", async (request, reply) => {
    const erasure = controlRequest(request, "erase");
    const isGone = (): boolean => reply.raw.destroyed;
    const erase = (): Promise<void> => eraseState(gateway, erasure, isGone);
    await eraseSession(gateway, erasure.session.key, { erase, isGone });
    return reply.code(204).send();
  });
}

/** @throws HttpProblem when there is no such session, or it is not the principal's to write to */
async function knownControlRequest(
  gateway: Gateway,
  request: FastifyRequest<SessionPath>,
  kind: ControlRequest["kind"],
): Promise<ControlRequest> {
  const control = controlRequest(request, kind);
  await loadSession(gateway, control.session);
  return control;
}

/** @throws HttpProblem when the session is not the principal's to write to, whether or not it exists */
function controlRequest(request: FastifyRequest<SessionPath>, kind: ControlRequest["kind"]): ControlRequest {
  const session = sessionRef(request.params.session);
  readFields(NoBody, request.body);
  const { principal } = request;
  originFor(session, principal);
  const { traceparent } = childOf([request.headers.traceparent].flat()[0]);
  return { kind, session, principal, traceparent };
}
