import { randomBytes } from "node:crypto";
import { MAX_TEXT_LENGTH, turnIdOf } from "@troupe/contracts";
import { childOf } from "@troupe/platform";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Gateway } from "../gateway.js";
import { readFields } from "../problem.js";
import { readEntry } from "@troupe/channel-kit";
import { loadSession, originFor, type SessionRef, sessionRef } from "../session-access.js";
import { messagesView } from "../session-view.js";
import { type WaitingFor, waitForFinal, waitingFor, watchTurn } from "../turn-wait.js";
import type { SessionPath } from "./session-path.js";

const MAX_WAIT_SECONDS = 300;
const MAX_PAGE = 1000;

const wellFormed = (text: string): boolean => text.isWellFormed();
const FORM = "expected well-formed Unicode (it holds half of a surrogate pair)";

const MessageBody = z.strictObject({
  text: z.string().min(1, "must not be empty").max(MAX_TEXT_LENGTH).refine(wellFormed, FORM),
  id: z.string().min(1, "must not be empty").max(512).refine(wellFormed, FORM).optional(),
  attachments: z.array(z.unknown()).max(0, "attachments are not supported yet").optional(),
});

const WAIT_FORM = `expected seconds from 0 to ${MAX_WAIT_SECONDS}`;
const WaitQuery = z.object({
  wait: z
    .string(WAIT_FORM)
    .regex(/^\d+(\.\d+)?$/, WAIT_FORM)
    .transform(Number)
    .refine((seconds) => seconds <= MAX_WAIT_SECONDS, WAIT_FORM)
    .default(0),
});

const index = (form: string) =>
  z
    .string(form)
    .regex(/^\d{1,15}$/, form)
    .transform(Number);
const LIMIT_FORM = `expected a whole number from 1 to ${MAX_PAGE}`;
const RangeQuery = z.object({
  from: index("expected a whole number from 0 on").default(0),
  limit: index(LIMIT_FORM)
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE, LIMIT_FORM)
    .default(100),
});

/** Sending a message, waiting for its final or not, and reading the history. */
export function addMessageRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.post<SessionPath>("/v1/sessions/:session/messages", async (request, reply) => {
    const session = sessionRef(request.params.session);
    const { wait } = readFields(WaitQuery, request.query);
    const { text, id } = readFields(MessageBody, request.body);
    const origin = originFor(session, request.principal);
    const messageId = id ?? `m_${randomBytes(16).toString("hex")}`;
    const turn = turnIdOf(session.key, messageId);
    // Begun before the message is sent, so that the final cannot be missed.
    const watch = wait > 0 ? watchTurn(gateway.outbox, session.key, turn) : null;
    try {
      const { duplicate, final } = await gateway.inbox.accept({
        session,
        origin,
        messageId,
        repeatable: id !== undefined,
        text,
        introduce: true,
        principal: request.principal.id,
        traceparent: childOf([request.headers.traceparent].flat()[0]).traceparent,
      });
      const answer = { session: session.text, turn, duplicate };
      if (final !== null) return { ...answer, status: "done", final };
      void reply.code(202);
      if (watch === null) return { ...answer, status: "queued" };
      const end = await waitForFinal(gateway, watch, reply.raw, wait * 1000);
      if (end.kind === "final") {
        void reply.code(200);
        return { ...answer, status: "done", final: end.final };
      }
      return { ...answer, status: "waiting", waitingFor: await reasons(gateway, session, turn) };
    } finally {
      watch?.stop();
    }
  });

  app.get<SessionPath>("/v1/sessions/:session/messages", async (request) => {
    const session = sessionRef(request.params.session);
    const range = readFields(RangeQuery, request.query);
    const loaded = await loadSession(gateway, session);
    const { segments, blobs } = gateway;
    return messagesView(session, loaded, { range, read: segments.read, blobs });
  });
}

async function reasons({ sessions, log }: Gateway, session: SessionRef, turn: string): Promise<WaitingFor[]> {
  try {
    const stored = await sessions.read(session.key);
    const read = stored === null ? null : readEntry(stored.text);
    return waitingFor(read?.kind === "ok" ? read.entry : null, turn);
  } catch (err) {
    // The message is accepted: that its state cannot be read just now must not turn the answer into an error.
    log.warn({ err, turn }, "cannot tell what a turn waits for");
    return waitingFor(null, turn);
  }
}
