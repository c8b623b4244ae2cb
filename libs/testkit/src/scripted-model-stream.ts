import type { ServerResponse } from "node:http";
import type { ScriptedRequest } from "./scripted-model-request.js";

export interface ScriptedUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Tokens that scripted answers report unless a test names others. */
export const scriptedUsage: ScriptedUsage = { prompt_tokens: 11, completion_tokens: 7 };

/**
 * An answer stream in the test's hands: nothing is sent but what the test sends, when it sends it.
 * Each call is one write, so the client meets the same chunk borders.
 */
export interface ScriptedStream {
  /** One piece of answer text. */
  text(piece: string): void;
  /** One `choices[0].delta`, as given. */
  delta(delta: Readonly<Record<string, unknown>>): void;
  /** One `data:` event with this JSON. */
  event(value: unknown): void;
  /** Bytes as they are, outside any framing. */
  raw(bytes: string | Uint8Array): void;
  finish(reason?: string): void;
  /** The usage chunk (empty `choices`), sent whether asked for or not. */
  usage(usage?: ScriptedUsage): void;
  /** `[DONE]` and the regular end. */
  done(): void;
  /** The regular end of the body without `[DONE]`. */
  end(): void;
  /** Drops the connection. */
  cut(): void;
}

export function openScriptedStream(
  request: ScriptedRequest,
  response: ServerResponse,
  headers: Readonly<Record<string, string>> = {},
): ScriptedStream {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", ...headers });
  response.flushHeaders();
  const raw = (bytes: string | Uint8Array): void => {
    if (!response.writableEnded && !response.destroyed) response.write(bytes);
  };
  const event = (value: unknown): void => raw(`data: ${JSON.stringify(value)}\n\n`);
  const choice = (delta: Readonly<Record<string, unknown>>, finish: string | null): void =>
    event({ ...envelope(request), choices: [{ index: 0, delta, finish_reason: finish }] });
  return {
    raw,
    event,
    text: (piece) => choice({ content: piece }, null),
    delta: (delta) => choice(delta, null),
    finish: (reason = "stop") => choice({}, reason),
    usage: (usage = scriptedUsage) => event({ ...envelope(request), choices: [], usage }),
    done: () => {
      raw("data: [DONE]\n\n");
      response.end();
    },
    end: () => response.end(),
    cut: () => response.destroy(),
  };
}

function envelope(request: ScriptedRequest): Record<string, unknown> {
  return {
    id: `chatcmpl-${request.n}`,
    object: "chat.completion.chunk",
    created: 0,
    model: request.body.model ?? "scripted",
  };
}
