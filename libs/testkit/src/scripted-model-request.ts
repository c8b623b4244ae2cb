import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";

/** One message of a captured request, as loosely as the wire allows. */
export interface ScriptedMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
  readonly tool_call_id?: string;
}

/** The JSON body of a captured chat request; fields that were not sent are absent. */
export interface ScriptedBody {
  readonly model?: string;
  readonly messages?: readonly ScriptedMessage[];
  readonly tools?: readonly { readonly function?: { readonly name?: string } }[];
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly [field: string]: unknown;
}

/** A request as it reached the scripted model. */
export interface ScriptedRequest {
  /** 1 for the first chat request that began to arrive; 0 for any other request. */
  readonly n: number;
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ScriptedBody;
  readonly rawBody: string;
  /** Text of the last user message; empty when there is none. */
  readonly lastUser: string;
  /** The client's port: equal for two requests that came over one connection. */
  readonly port: number;
  /** Settles when the connection's part in this request is over: true when the client left first. */
  readonly over: Promise<{ readonly clientLeft: boolean }>;
}

/** Which requests a route or a wait means: text within the last user message, a pattern on it, or any condition. */
export type RequestMatch = string | RegExp | ((request: ScriptedRequest) => boolean);

export function matches(match: RequestMatch, request: ScriptedRequest): boolean {
  if (typeof match === "string") return request.lastUser.includes(match);
  // `search` starts at 0 whatever the pattern's flags; `test` would remember where it stopped.
  if (match instanceof RegExp) return request.lastUser.search(match) >= 0;
  return match(request);
}

/** Reads a request to its end. */
export async function captureRequest(
  n: number,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<ScriptedRequest> {
  const over = new Promise<{ clientLeft: boolean }>((resolve) => {
    outgoing.once("close", () => resolve({ clientLeft: !outgoing.writableFinished }));
  });
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  const rawBody = Buffer.concat(parts).toString("utf8");
  const body: ScriptedBody = rawBody === "" ? {} : JSON.parse(rawBody);
  return {
    n,
    method: incoming.method ?? "GET",
    path: (incoming.url ?? "/").split("?")[0] ?? "/",
    headers: incoming.headers,
    body,
    rawBody,
    lastUser: lastUserText(body),
    port: incoming.socket.remotePort ?? 0,
    over,
  };
}

function lastUserText(body: ScriptedBody): string {
  const content = body.messages?.findLast((message) => message.role === "user")?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : "")).join("");
}
