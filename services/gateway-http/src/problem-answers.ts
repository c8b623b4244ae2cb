import type { Logger } from "@troupe/platform";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { openAiError } from "./openai/openai-error.js";
import { HttpProblem, problemDocument } from "./problem.js";
import { defect, problemOf, unavailable } from "./problem-mapping.js";

const OPENAI_ROUTES = /^\/v1\/(chat|models)(\/|\?|$)/;

interface Options {
  readonly log: Logger;
  readonly connected: () => boolean;
}

/** Every answer that is no success, in the form that its route's clients understand. */
export function addProblemAnswers(app: FastifyInstance, { log, connected }: Options): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    let problem = problemOf(error);
    if (problem === undefined) {
      problem = connected() ? defect(error) : unavailable(error);
      const route = request.routeOptions.url;
      log.error({ err: error, method: request.method, route }, "a request failed");
    }
    return answerProblem(request, reply, problem);
  });
  app.setNotFoundHandler((request, reply) =>
    answerProblem(request, reply, new HttpProblem(404, "not_found", "there is no such page")),
  );
}

/** Writes a problem, in OpenAI's envelope on the routes that speak OpenAI's protocol. */
export function answerProblem(request: FastifyRequest, reply: FastifyReply, problem: HttpProblem): FastifyReply {
  // A client that is still sending would lose the answer with a connection that is closed on it.
  reply.removeHeader("connection");
  void reply.headers(problem.headers);
  if (OPENAI_ROUTES.test(request.url)) {
    const { status, envelope } = openAiError(problem);
    return reply.code(status).send(envelope);
  }
  return reply
    .code(problem.status)
    .type("application/problem+json")
    .send(JSON.stringify(problemDocument(problem)));
}
