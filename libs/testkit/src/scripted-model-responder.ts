import type { ServerResponse } from "node:http";
import type { ScriptedRequest } from "./scripted-model-request.js";
import { openScriptedStream, type ScriptedStream, type ScriptedUsage, scriptedUsage } from "./scripted-model-stream.js";

export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  /** An object is sent as its JSON, a string as it stands. */
  readonly arguments: string | Readonly<Record<string, unknown>>;
}

export interface AnswerOptions {
  readonly finish?: string;
  readonly usage?: ScriptedUsage;
}

/** What a test can answer one request with. */
export interface ScriptedResponder {
  /** An answer of this text; an array is sent chunk by chunk. Streamed or whole, as the request asks. */
  text(text: string | readonly string[], options?: AnswerOptions): void;
  /** An answer that calls tools; streamed with each call's arguments in two deltas, or whole. */
  calls(calls: readonly ScriptedCall[], options?: AnswerOptions): void;
  /** A stream of raw `tool_calls` deltas, one chunk per element. */
  deltas(deltas: readonly (readonly unknown[])[], options?: AnswerOptions): void;
  /** Any status with any body: an object as JSON, a string as it stands. */
  status(code: number, body?: unknown, headers?: Readonly<Record<string, string>>): void;
  /** A stream that the test drives itself. */
  stream(headers?: Readonly<Record<string, string>>): ScriptedStream;
  /** These bytes as an event stream, one write per element, each in a turn of its own, then the end. */
  bytes(pieces: readonly (string | Uint8Array)[]): void;
  /** The head of a stream and this text, then silence until the client leaves. */
  stall(text?: string): void;
  /** The head of a stream and this text, then the connection is dropped. */
  cut(text?: string): void;
  /** A stream whose chunk is no JSON. */
  brokenChunk(): void;
  /** Drops the connection before any answer. */
  hangUp(): void;
}

export function createResponder(request: ScriptedRequest, response: ServerResponse): ScriptedResponder {
  const stream = (headers?: Readonly<Record<string, string>>): ScriptedStream =>
    openScriptedStream(request, response, headers);
  const close = (open: ScriptedStream, finish: string, usage: ScriptedUsage): void => {
    open.finish(finish);
    if (request.body.stream_options?.include_usage === true) open.usage(usage);
    open.done();
  };
  const answer = (message: Record<string, unknown>, finish: string, usage: ScriptedUsage): void =>
    sendWhole(response, { request, message, finish, usage });
  return {
    stream,
    text: (text, { finish = "stop", usage = scriptedUsage } = {}) => {
      const pieces = typeof text === "string" ? [text] : text;
      if (request.body.stream !== true) return answer({ content: pieces.join("") }, finish, usage);
      const open = stream();
      open.delta({ role: "assistant", content: "" });
      for (const piece of pieces) open.text(piece);
      close(open, finish, usage);
    },
    calls: (calls, { finish = "tool_calls", usage = scriptedUsage } = {}) => {
      const named = calls.map((call, index) => asWireCall(call, `call_${request.n}_${index}`));
      if (request.body.stream !== true) return answer({ content: null, tool_calls: named }, finish, usage);
      const open = stream();
      for (const [index, call] of named.entries()) sendCall(open, index, call);
      close(open, finish, usage);
    },
    deltas: (deltas, { finish = "tool_calls", usage = scriptedUsage } = {}) => {
      const open = stream();
      for (const delta of deltas) open.delta({ tool_calls: delta });
      close(open, finish, usage);
    },
    status: (code, body = "", headers = {}) => sendStatus(response, code, { body, headers }),
    hangUp: () => {
      response.destroy();
    },
    ...misfortunes(response, stream),
  };
}

type Misfortunes = Pick<ScriptedResponder, "bytes" | "stall" | "cut" | "brokenChunk">;

function misfortunes(response: ServerResponse, stream: () => ScriptedStream): Misfortunes {
  const begin = (text: string | undefined): ScriptedStream => {
    const open = stream();
    if (text !== undefined) open.text(text);
    return open;
  };
  return {
    bytes: (pieces) => {
      const open = stream();
      const next = (at: number): void => {
        const piece = pieces[at];
        if (piece === undefined) return open.end();
        open.raw(piece);
        // Written in one turn, the pieces would leave in one packet.
        setImmediate(next, at + 1);
      };
      next(0);
    },
    stall: (text) => void begin(text),
    cut: (text) => {
      const open = begin(text);
      // Dropped only once the text is on the wire: else the client may see nothing but the drop.
      response.write(": cut\n\n", () => open.cut());
    },
    brokenChunk: () => {
      const open = stream();
      open.raw('data: {"choices":[{"delta":{"content":\n\n');
      open.done();
    },
  };
}

interface WireCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

function asWireCall(call: ScriptedCall, fallbackId: string): WireCall {
  const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
  return {
    id: call.id ?? fallbackId,
    type: "function",
    function: { name: call.name, arguments: text },
  };
}

function sendCall(open: ScriptedStream, index: number, call: WireCall): void {
  const text = call.function.arguments;
  const half = Math.ceil(text.length / 2);
  const first = { name: call.function.name, arguments: text.slice(0, half) };
  open.delta({ tool_calls: [{ index, id: call.id, type: "function", function: first }] });
  open.delta({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] });
}

function sendStatus(
  response: ServerResponse,
  code: number,
  { body, headers }: { readonly body: unknown; readonly headers: Readonly<Record<string, string>> },
): void {
  const isText = typeof body === "string";
  response.writeHead(code, {
    "content-type": isText ? "text/plain" : "application/json",
    ...headers,
  });
  response.end(isText ? body : JSON.stringify(body));
}

interface WholeAnswer {
  readonly request: ScriptedRequest;
  readonly message: Readonly<Record<string, unknown>>;
  readonly finish: string;
  readonly usage: ScriptedUsage;
}

function sendWhole(response: ServerResponse, { request, message, finish, usage }: WholeAnswer): void {
  const body = {
    id: `chatcmpl-${request.n}`,
    object: "chat.completion",
    created: 0,
    model: request.body.model ?? "scripted",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  };
  sendStatus(response, 200, { body, headers: {} });
}
