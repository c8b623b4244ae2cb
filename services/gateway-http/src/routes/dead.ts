import { DEAD_KINDS } from "@troupe/contracts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { letterPageView, letterView, retryView } from "../dead-letter-view.js";
import type { Gateway } from "../gateway.js";
import { operatorOnly } from "../operator-access.js";
import { HttpProblem, readFields } from "../problem.js";
import { sessionRef } from "../session-access.js";

const MAX_PAGE = 1000;
const LIMIT_FORM = `expected a whole number from 1 to ${MAX_PAGE}`;
const CURSOR_FORM = "expected a cursor as `next` gave it";
/** A sequence, in the one spelling that is given out. */
const SEQUENCE = /^[1-9]\d{0,14}$/;

const ListQuery = z.object({
  kind: z.enum(DEAD_KINDS, `expected one of: ${DEAD_KINDS.join(", ")}`).optional(),
  session: z.string("expected one session").optional(),
  limit: z
    .string(LIMIT_FORM)
    .regex(/^\d{1,4}$/, LIMIT_FORM)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE, LIMIT_FORM)
    .default(100),
  cursor: z.string(CURSOR_FORM).regex(SEQUENCE, CURSOR_FORM).transform(Number).optional(),
});

const NoBody = z.strictObject({}).nullish();

interface LetterPath {
  Params: { id: string };
}

type DeadParts = Pick<Gateway, "dead" | "log"> & { readonly admission: Pick<Gateway["admission"], "check"> };

/** What was given up on: for operators, because it holds what people said. */
export function addDeadRoutes(app: FastifyInstance, { dead, admission, log }: DeadParts): void {
  app.get("/v1/dead", async (request) => {
    operatorOnly(request.principal);
    const { session, ...query } = readFields(ListQuery, request.query);
    const key = session === undefined ? undefined : sessionRef(session).key;
    return letterPageView(await dead.list({ ...query, session: key }));
  });

  app.get<LetterPath>("/v1/dead/:id", async (request) => {
    const seq = letterOf(request);
    return letterView((await dead.get(seq)) ?? unknown(seq));
  });

  app.post<LetterPath>("/v1/dead/:id/retry", async (request) => {
    const seq = letterOf(request);
    readFields(NoBody, request.body);
    // A retry is new work, under an id of its own.
    admission.check({ repeatable: false });
    const outcome = (await dead.retry(seq)) ?? unknown(seq);
    if (outcome.kind === "refused") throw new HttpProblem(409, "not_retryable", outcome.reason);
    const done = retryView(outcome);
    log.info({ ...done, principal: request.principal.id }, "dead letter retried");
    return done;
  });

  app.delete<LetterPath>("/v1/dead/:id", async (request, reply) => {
    const seq = letterOf(request);
    if (!(await dead.drop(seq))) unknown(seq);
    log.info({ id: String(seq), principal: request.principal.id }, "dead letter dropped");
    return reply.code(204).send();
  });
}

/** @throws HttpProblem 403, and 404 for what can be no letter's id */
function letterOf({ principal, params }: FastifyRequest<LetterPath>): number {
  operatorOnly(principal);
  return SEQUENCE.test(params.id) ? Number(params.id) : unknown(params.id);
}

function unknown(id: number | string): never {
  const shown = String(id);
  const detail = SEQUENCE.test(shown) ? `there is no dead letter ${shown}` : "there is no such dead letter";
  throw new HttpProblem(404, "unknown_letter", detail);
}
