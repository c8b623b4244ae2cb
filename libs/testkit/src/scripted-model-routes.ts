import { matches, type RequestMatch, type ScriptedRequest } from "./scripted-model-request.js";
import type { ScriptedResponder } from "./scripted-model-responder.js";

export type ScriptedReply = (request: ScriptedRequest, respond: ScriptedResponder) => void | Promise<void>;

/** A held request. */
export interface ScriptedGate {
  /** The request, once it has arrived. */
  readonly arrived: Promise<ScriptedRequest>;
  release(): void;
}

export interface ScriptedRoutes {
  /** What answers this request; uses up a queued reply or a gate. */
  next(request: ScriptedRequest): ScriptedReply;
  setDefault(reply: ScriptedReply): void;
  enqueue(...replies: readonly ScriptedReply[]): void;
  when(match: RequestMatch, reply: ScriptedReply): () => void;
  hold(match?: RequestMatch, reply?: ScriptedReply): ScriptedGate;
  releaseAll(): void;
}

interface Gate {
  readonly match: RequestMatch;
  readonly enter: (request: ScriptedRequest) => Promise<void>;
  readonly reply: ScriptedReply | undefined;
}

const echo: ScriptedReply = (request, respond) => respond.text(`echo: ${request.lastUser}`);

/** Decides which reply answers a request. */
export function createScriptedRoutes(): ScriptedRoutes {
  const routes: { readonly match: RequestMatch; readonly reply: ScriptedReply }[] = [];
  const queue: ScriptedReply[] = [];
  const gates: Gate[] = [];
  const opened = new Set<() => void>();
  let fallback = echo;

  const route = (request: ScriptedRequest): ScriptedReply | undefined =>
    routes.findLast((candidate) => matches(candidate.match, request))?.reply;
  const ungated = (request: ScriptedRequest): ScriptedReply => route(request) ?? queue.shift() ?? fallback;

  return {
    next: (request) => {
      const index = gates.findIndex((gate) => matches(gate.match, request));
      const gate = index < 0 ? undefined : gates.splice(index, 1)[0];
      if (gate === undefined) return ungated(request);
      return async (held, respond) => {
        await gate.enter(held);
        await (gate.reply ?? ungated(held))(held, respond);
      };
    },
    setDefault: (reply) => {
      fallback = reply;
    },
    enqueue: (...replies) => {
      queue.push(...replies);
    },
    when: (match, reply) => {
      const entry = { match, reply };
      routes.push(entry);
      return () => {
        const index = routes.indexOf(entry);
        if (index >= 0) routes.splice(index, 1);
      };
    },
    hold: (match = () => true, reply) => {
      let arrive: (request: ScriptedRequest) => void = () => {};
      let release: () => void = () => {};
      const arrived = new Promise<ScriptedRequest>((resolve) => {
        arrive = resolve;
      });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      opened.add(release);
      const enter = (request: ScriptedRequest): Promise<void> => {
        arrive(request);
        return released;
      };
      gates.push({ match, enter, reply });
      return { arrived, release };
    },
    releaseAll: () => {
      for (const release of opened) release();
    },
  };
}
