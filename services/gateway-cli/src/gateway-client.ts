import type { z } from "zod";
import { DeadLetterAnswer, DeadPage, Retried } from "./dead-answer.js";
import { Accepted, Cancelled, MessagePage, Problem, SessionPage, SessionState, WasReset } from "./gateway-answer.js";
import type { GatewayAddress } from "./gateway-address.js";
import { GatewayFailure } from "./gateway-failure.js";
import { sanitiseLine } from "./sanitise.js";

const ANSWER_TIMEOUT_MS = 30_000;
const OPEN_TIMEOUT_MS = 10_000;
/** Statuses after which the same request may succeed: overload, a full stream, a gateway that restarts behind a proxy. */
const TRY_AGAIN = new Set([429, 502, 503, 504]);

interface Call {
  readonly method?: "POST" | "DELETE";
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** How long the gateway may take until its headers are there. */
  readonly timeoutMs?: number;
}

/** The HTTP API, one attempt per call; everything that goes wrong is a {@link GatewayFailure}. */
export class GatewayClient {
  readonly #address: GatewayAddress;

  constructor(address: GatewayAddress) {
    this.#address = address;
  }

  /** @param waitMs how long the gateway may hold the answer back for the final */
  async send(
    session: string,
    message: { readonly id: string; readonly text: string },
    { waitMs = 0, signal }: { waitMs?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<Accepted> {
    const query = waitMs > 0 ? `?wait=${Math.ceil(waitMs / 1000)}` : "";
    const call: Call = { method: "POST", body: message, signal, timeoutMs: ANSWER_TIMEOUT_MS + waitMs };
    return this.#json(Accepted, `${pathOf(session)}/messages${query}`, call);
  }

  /** Undefined when there is no such session. */
  async cancel(session: string, signal?: AbortSignal): Promise<Cancelled | undefined> {
    return this.#found(this.#json(Cancelled, `${pathOf(session)}/cancel`, { method: "POST", signal }));
  }

  /** Undefined when there is no such session. */
  async reset(session: string): Promise<{ readonly generation: number } | undefined> {
    return this.#found(this.#json(WasReset, `${pathOf(session)}/reset`, { method: "POST" }));
  }

  /** Undefined when there is no such session. */
  async session(session: string): Promise<SessionState | undefined> {
    return this.#found(this.#json(SessionState, pathOf(session), {}));
  }

  async messages(session: string, range: { readonly from: number; readonly limit: number }): Promise<MessagePage> {
    const query = `from=${range.from}&limit=${range.limit}`;
    return this.#json(MessagePage, `${pathOf(session)}/messages?${query}`, {});
  }

  async sessions(query: URLSearchParams): Promise<SessionPage> {
    return this.#json(SessionPage, `/v1/sessions?${query.toString()}`, {});
  }

  async deadLetters(query: URLSearchParams): Promise<DeadPage> {
    return this.#json(DeadPage, `/v1/dead?${query.toString()}`, {});
  }

  async deadLetter(id: string): Promise<DeadLetterAnswer> {
    return this.#json(DeadLetterAnswer, `/v1/dead/${encodeURIComponent(id)}`, {});
  }

  async retryLetter(id: string): Promise<Retried> {
    return this.#json(Retried, `/v1/dead/${encodeURIComponent(id)}/retry`, { method: "POST" });
  }

  async dropLetter(id: string): Promise<void> {
    await this.#fetch(`/v1/dead/${encodeURIComponent(id)}`, { method: "DELETE" });
  }

  /** Opens the session's event stream; the signal closes it. */
  async events(session: string, lastEventId: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers = {
      accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    return this.#fetch(`${pathOf(session)}/events`, { headers, signal, timeoutMs: OPEN_TIMEOUT_MS });
  }

  async #found<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof GatewayFailure && error.status === 404) return undefined;
      throw error;
    }
  }

  async #json<S extends z.ZodType>(schema: S, path: string, call: Call): Promise<z.output<S>> {
    const response = await this.#fetch(path, call);
    let body: string;
    try {
      body = await response.text();
    } catch (error) {
      throw this.#unreachable(error, call);
    }
    try {
      return schema.parse(JSON.parse(body));
    } catch (cause) {
      const message = `what answers at ${this.#address.url} is not a gateway that this client knows`;
      throw new GatewayFailure(message, { retryable: false, status: response.status, cause });
    }
  }

  async #fetch(path: string, call: Call): Promise<Response> {
    const { token, url } = this.#address;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort("timeout"), call.timeoutMs ?? ANSWER_TIMEOUT_MS);
    const signal = call.signal === undefined ? late.signal : AbortSignal.any([call.signal, late.signal]);
    let response: Response;
    try {
      response = await fetch(`${url}${path}`, {
        method: call.method ?? "GET",
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(call.body === undefined ? {} : { "content-type": "application/json" }),
          ...call.headers,
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
        signal,
      });
    } catch (error) {
      throw this.#unreachable(error, call);
    } finally {
      clearTimeout(timer);
    }
    if (!response.ok) throw await this.#refused(response);
    return response;
  }

  #unreachable(cause: unknown, call: Call): unknown {
    if (call.signal?.aborted === true) return call.signal.reason;
    const { url, local } = this.#address;
    if (cause === "timeout")
      return new GatewayFailure(`the gateway at ${url} does not answer`, { retryable: true, cause });
    const advice = local ? "is `npm start` running?" : reasonOf(cause);
    return new GatewayFailure(`no gateway at ${url}: ${advice}`, { retryable: true, cause });
  }

  async #refused(response: Response): Promise<GatewayFailure> {
    const { status } = response;
    const { url, token, tokenSource } = this.#address;
    const detail = await problemOf(response);
    const options = { status, retryable: TRY_AGAIN.has(status), retryAfterMs: retryAfterMs(response.headers) };
    if (status !== 401) return new GatewayFailure(detail, options);
    const message =
      token === undefined
        ? `the gateway at ${url} wants a token, and there is none (read from ${tokenSource})`
        : `the gateway at ${url} does not accept the token (read from ${tokenSource})`;
    return new GatewayFailure(message, options);
  }
}

function pathOf(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`;
}

async function problemOf(response: Response): Promise<string> {
  const body = await response.text().catch(() => "");
  let problem: z.output<typeof Problem> = {};
  try {
    problem = Problem.safeParse(JSON.parse(body)).data ?? {};
  } catch {
    // Not JSON: the status says all there is to say.
  }
  const fields = (problem.errors ?? []).map(({ path, message }) => `${path}: ${message}`).join("; ");
  const said = [problem.detail ?? problem.title, fields].filter(Boolean).join(": ");
  return said === "" ? `the gateway answered ${response.status}` : sanitiseLine(said);
}

function retryAfterMs(headers: Headers): number {
  const value = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? 0 : Math.max(0, at - Date.now());
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return String(cause);
}
