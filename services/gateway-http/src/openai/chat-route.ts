import { turnIdOf } from "@troupe/contracts";
import { childOf } from "@troupe/platform";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Gateway } from "../gateway.js";
import type { IncomingMessage } from "../message-inbox.js";
import { defect, problemOf } from "../problem-mapping.js";
import { originFor } from "../session-access.js";
import { watchTurn } from "../turn-wait.js";
import { answerText } from "./answer-preview.js";
import { waitForAnswer, waitProblem } from "./answer-wait.js";
import { type CompletionHead, completion } from "./chat-completion.js";
import { type ChatRequest, readChatRequest } from "./chat-request.js";
import { chatAddress, SESSION_HEADER, sessionHeader } from "./chat-session.js";
import { CompletionStream } from "./completion-stream.js";
import { FreshSessions } from "./fresh-sessions.js";
import { problemOfFinal } from "./openai-error.js";

/** One completion under way. */
interface ChatRun {
  readonly chat: ChatRequest;
  readonly message: IncomingMessage;
  readonly head: CompletionHead;
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
    const run = begin(request, reply, chat, fresh);
    return chat.stream ? streamed(gateway, run, reply) : whole(gateway, run, reply);
  });
}

function begin(request: FastifyRequest, reply: FastifyReply, chat: ChatRequest, freshSessions: FreshSessions): ChatRun {
  const { principal, headers } = request;
  const address = chatAddress(headers, chat, principal.id, freshSessions);
  const { session, messageId, repeatable, fresh } = address;
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
    answered: () => {
      answered = true;
    },
  };
}

async function whole(gateway: Gateway, { message, head, answered }: ChatRun, reply: FastifyReply) {
  const { session } = message;
  const watch = watchTurn(gateway.outbox, session.key, head.turn);
  try {
    const { final: known } = await gateway.inbox.accept(message);
    const end = await waitForAnswer(gateway, session, { watch, known }, reply.raw);
    if (end.kind !== "final") throw waitProblem(end.kind);
    answered();
    const problem = problemOfFinal(end.final);
    if (problem !== null) throw problem;
    return completion(head, answerText(end.final));
  } finally {
    watch.stop();
  }
}

async function streamed(gateway: Gateway, run: ChatRun, reply: FastifyReply): Promise<FastifyReply> {
  const { chat, message, head, answered } = run;
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
    answered();
    const problem = problemOfFinal(end.final);
    if (problem !== null) throw problem;
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
