import { type Final, turnIdOf } from "@troupe/contracts";
import { childOf } from "@troupe/platform";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Gateway } from "../gateway.js";
import type { IncomingMessage } from "@troupe/channel-kit";
import { defect, problemOf } from "../problem-mapping.js";
import { originFor, type SessionRef } from "../session-access.js";
import { watchTurn } from "../turn-wait.js";
import { answerText } from "./answer-preview.js";
import { waitForAnswer, waitProblem } from "./answer-wait.js";
import { type CompletionHead, completion } from "./chat-completion.js";
import { type ChatRequest, readChatRequest } from "./chat-request.js";
import { chatAddress, SESSION_HEADER, sessionHeader } from "./chat-session.js";
import { CompletionStream } from "./completion-stream.js";
import { FreshSessions } from "./fresh-sessions.js";
import { mayPass, problemOfFinal } from "./openai-error.js";

/** One completion under way. */
interface ChatRun {
  readonly chat: ChatRequest;
  readonly message: IncomingMessage & { readonly session: SessionRef };
  readonly head: CompletionHead;
  /** Of a message whose id is a digest: the id, and how often that message has failed before. */
  readonly attempt: { readonly messageId: string; readonly failures: number } | null;
  /** Notes that the turn's final is on its way to the client, whatever it is. */
  readonly answered: () => void;
}

/** OpenAI's chat completions, answered by turns of sessions, and the list of models. */
export function addChatRoutes(app: FastifyInstance, gateway: Gateway, models: readonly string[]): void {
  const fresh = new FreshSessions();
  const startedAt = Math.floor(Date.now() / 1000);

  app.get("/v1/models", async () => ({
    object: "list",
    data: models.map((id) => ({ id, object: "model", created: startedAt, owned_by: "troupe" })),
  }));

  app.post("/v1/chat/completions", async (request, reply) => {
    const chat = readChatRequest(request.body, models);
    const answer = chat.stream ? streamed : whole;
    for (let run = begin(request, reply, chat, fresh); ; run = afterFailure(run)) {
      const given = await answer(gateway, run, reply);
      if (given !== FAILED_BEFORE) return given;
    }
  });
}

function begin(request: FastifyRequest, reply: FastifyReply, chat: ChatRequest, freshSessions: FreshSessions): ChatRun {
  const { principal, headers } = request;
  const address = chatAddress(headers, chat, principal.id, freshSessions);
  const { session, messageId, repeatable, derived, fresh } = address;
  let answered = false;
  if (fresh !== null) {
    reply.raw.once("close", () => freshSessions.end(fresh, session.text, answered && reply.raw.writableFinished));
  }
  void reply.header(SESSION_HEADER, sessionHeader(session.text));
  return {
    chat,
    message: {
      session,
      origin: originFor(session, principal),
      messageId,
      repeatable,
      text: chat.text,
      instructions: chat.instructions,
      introduce: false,
      principal: principal.id,
      traceparent: childOf([headers.traceparent].flat()[0]).traceparent,
    },
    head: {
      turn: turnIdOf(session.key, messageId),
      model: chat.model,
      created: Math.floor(Date.now() / 1000),
    },
    attempt: derived ? { messageId, failures: 0 } : null,
    answered: () => {
      answered = true;
    },
  };
}

/** The message has a final already, and it is one after which the same request is a new attempt. */
const FAILED_BEFORE = Symbol("failed before");

function failedBefore({ attempt }: ChatRun, known: Final | null, final: Final): boolean {
  return attempt !== null && known !== null && (mayPass(final) || final.kind === "cancelled");
}

/** The same request as the next attempt's message: its id counts the failures, so every gateway finds the same one. */
function afterFailure(run: ChatRun): ChatRun {
  const { attempt, message, head } = run;
  if (attempt === null) return run;
  const failures = attempt.failures + 1;
  const messageId = `${attempt.messageId}_r${failures}`;
  return {
    ...run,
    message: { ...message, messageId, repeatable: true },
    head: { ...head, turn: turnIdOf(message.session.key, messageId) },
    attempt: { ...attempt, failures },
  };
}

async function whole(gateway: Gateway, run: ChatRun, reply: FastifyReply) {
  const { message, head } = run;
  const { session } = message;
  const watch = watchTurn(gateway.outbox, session.key, head.turn);
  try {
    const { final: known } = await gateway.inbox.accept(message);
    const end = await waitForAnswer(gateway, session, { watch, known }, reply.raw);
    if (end.kind !== "final") throw waitProblem(end.kind);
    if (failedBefore(run, known, end.final)) return FAILED_BEFORE;
    tellFinal(run, end.final);
    return completion(head, answerText(end.final));
  } finally {
    watch.stop();
  }
}

/** @throws HttpProblem when the final is no answer */
function tellFinal({ answered }: ChatRun, final: Final): void {
  // The session of a failure that may pass is remembered: the client's retry goes on in it.
  if (!mayPass(final)) answered();
  const problem = problemOfFinal(final);
  if (problem !== null) throw problem;
}

async function streamed(
  gateway: Gateway,
  run: ChatRun,
  reply: FastifyReply,
): Promise<FastifyReply | typeof FAILED_BEFORE> {
  const { chat, message, head } = run;
  const { session } = message;
  const stream = new CompletionStream(gateway, reply, head, {
    includeUsage: chat.includeUsage,
    headers: { [SESSION_HEADER]: sessionHeader(session.text) },
  });
  // Both begin before the message is sent, so that neither a word nor the final can be missed.
  const stopLive = gateway.live.subscribe(session.key, (body) => stream.live(body));
  const watch = watchTurn(gateway.outbox, session.key, head.turn);
  const leave = gateway.long.add({ heartbeat: () => stream.heartbeat(), wrapUp: () => {} });
  try {
    const { final: known } = await gateway.inbox.accept(message);
    stream.accepted();
    const end = await waitForAnswer(gateway, session, { watch, known }, reply.raw);
    if (end.kind !== "final") throw waitProblem(end.kind);
    if (!stream.begun && failedBefore(run, known, end.final)) return FAILED_BEFORE;
    tellFinal(run, end.final);
    stream.finish(end.final);
  } catch (error) {
    if (!stream.begun) throw error;
    const problem = problemOf(error);
    if (problem === undefined) gateway.log.error({ err: error }, "a streamed completion failed");
    stream.fail(problem ?? defect(error));
  } finally {
    stopLive();
    stream.stop();
    leave();
    watch.stop();
  }
  return reply;
}
