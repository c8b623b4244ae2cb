import {
  type Accepted,
  readAccepted,
  readSessionPage,
  readSessionState,
  type SessionPage,
  type SessionState,
} from "./api-answer.js";
import { ApiFailure, failureOf } from "./api-failure.js";
import { type HistoryPage, readHistoryPage } from "./history-page.js";

/** Longer than any of these requests takes; a connection that died in silence must not hold a message for ever. */
const REQUEST_LIMIT_MS = 30_000;

/** The gateway's HTTP API, in the parts that the chat uses. The browser adds the cookie. */
export class GatewayApi {
  /** Called when the cookie is not, or no longer, good. */
  onSignedOut: () => void = () => {};

  async sessions(cursor: string | null, limit: number): Promise<SessionPage> {
    const after = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    return readSessionPage(await this.#ask("GET", `/v1/sessions?limit=${limit}${after}`));
  }

  /** Null for a session that does not exist yet. */
  async session(session: string): Promise<SessionState | null> {
    return orNull(this.#ask("GET", path(session)).then(readSessionState));
  }

  /** Null for a session that does not exist yet. */
  async messages(session: string, from: number, limit: number): Promise<HistoryPage | null> {
    return orNull(this.#ask("GET", `${path(session)}/messages?from=${from}&limit=${limit}`).then(readHistoryPage));
  }

  async send(session: string, message: { readonly id: string; readonly text: string }): Promise<Accepted> {
    const { id, text } = message;
    return readAccepted(await this.#ask("POST", `${path(session)}/messages`, { id, text }));
  }

  async cancel(session: string): Promise<void> {
    await orNull(this.#ask("POST", `${path(session)}/cancel`));
  }

  async reset(session: string): Promise<void> {
    await orNull(this.#ask("POST", `${path(session)}/reset`));
  }

  /** The open stream of a session's events. */
  async events(session: string, lastEventId: string | null, signal: AbortSignal): Promise<Response> {
    const resume = lastEventId === null ? {} : { headers: { "last-event-id": lastEventId } };
    return this.#fetch(`${path(session)}/events`, { ...resume, signal });
  }

  async #ask(method: string, url: string, body?: unknown): Promise<unknown> {
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await this.#fetch(url, { method, signal, ...(body === undefined ? {} : json) });
    try {
      return await response.json();
    } catch {
      throw new ApiFailure(0, "the answer broke off");
    }
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch {
      throw new ApiFailure(0, "the gateway cannot be reached");
    }
    if (response.status === 401) this.onSignedOut();
    if (!response.ok) throw await failureOf(response);
    return response;
  }
}

function path(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`;
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return null;
    throw error;
  }
}
