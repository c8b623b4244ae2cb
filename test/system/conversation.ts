import type { ApiAnswer, TroupeSystem } from "@troupe/testkit";
import { expect, vi } from "vitest";
import { History, type HistoryMessage, Posted, SessionView } from "./api-shapes.js";

/** How a message is sent. */
export interface SayOptions {
  /** The client's own id. */
  readonly id?: string;
  /** Seconds to wait for the final; 0: not at all. */
  readonly wait?: number;
}

/** A message's final is here long before; only a test that is about to fail waits this long. */
const WAIT_SECONDS = 50;
const LOOK_MS = 20;

/** One session, as a client of the HTTP API sees it. */
export class Conversation {
  readonly id: string;
  readonly #system: Pick<TroupeSystem, "api">;
  readonly #path: string;

  constructor(system: Pick<TroupeSystem, "api">, id: string) {
    this.#system = system;
    this.id = id;
    this.#path = `/v1/sessions/${encodeURIComponent(id)}`;
  }

  /** Posts a message and returns the answer as it came. */
  post(text: string, { id, wait = WAIT_SECONDS }: SayOptions = {}): Promise<ApiAnswer> {
    const query = wait === 0 ? "" : `?wait=${wait}`;
    return this.#system.api(`${this.#path}/messages${query}`, { json: { text, ...(id === undefined ? {} : { id }) } });
  }

  /** Posts a message that must be taken in, and waits for its final. */
  async say(text: string, options: Omit<SayOptions, "wait"> = {}) {
    const { status, body } = await this.post(text, options);
    expect(status, JSON.stringify(body)).toBe(200);
    const posted = Posted.parse(body);
    if (posted.final === undefined) throw new Error(`no final: ${JSON.stringify(body)}`);
    return { ...posted, final: posted.final };
  }

  /** Posts a message that must be taken in, and does not wait. */
  async send(text: string, options: Omit<SayOptions, "wait"> = {}): Promise<Posted> {
    const { status, body } = await this.post(text, { ...options, wait: 0 });
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    return Posted.parse(body);
  }

  /** Sends a message again and again under its id until its final is here, as a client does through an outage. */
  sayThroughOutage(text: string, id: string) {
    return vi.waitFor(
      async () => {
        const posted = Posted.parse((await this.post(text, { id, wait: 5 })).body);
        if (posted.final === undefined) throw new Error(`still waiting: ${JSON.stringify(posted)}`);
        return { ...posted, final: posted.final };
      },
      { timeout: WAIT_SECONDS * 1_000, interval: 200 },
    );
  }

  async view(): Promise<SessionView> {
    return SessionView.parse((await this.get("")).body);
  }

  get(path: string): Promise<ApiAnswer> {
    return this.#system.api(`${this.#path}${path}`);
  }

  async history(): Promise<History> {
    const { status, body } = await this.get("/messages?limit=1000");
    expect(status, JSON.stringify(body)).toBe(200);
    return History.parse(body);
  }

  async messages(): Promise<HistoryMessage[]> {
    return (await this.history()).messages;
  }

  /** `cancel` or `reset`. */
  control(kind: "cancel" | "reset"): Promise<ApiAnswer> {
    return this.#system.api(`${this.#path}/${kind}`, { method: "POST" });
  }

  erase(): Promise<ApiAnswer> {
    return this.#system.api(this.#path, { method: "DELETE" });
  }

  /** Waits until the session looks like this. */
  until(what: string, condition: (view: SessionView) => boolean): Promise<SessionView> {
    return vi.waitFor(
      async () => {
        const view = await this.view();
        if (!condition(view)) throw new Error(`${what}: not yet, ${JSON.stringify(view)}`);
        return view;
      },
      { timeout: WAIT_SECONDS * 1_000, interval: LOOK_MS },
    );
  }
}
