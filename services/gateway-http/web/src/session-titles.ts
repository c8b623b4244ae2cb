import type { GatewayApi } from "./gateway-api.js";

const MAX_LENGTH = 80;
/** Titles read at the same time. */
const PARALLEL = 4;

/** Sessions have no titles: the first words of their first message stand for one. */
export class SessionTitles {
  readonly #api: GatewayApi;
  readonly #known = new Map<string, string>();
  readonly #asked = new Set<string>();

  constructor(api: GatewayApi) {
    this.#api = api;
  }

  /** Whether it is more than the session's own name. */
  knows(session: string): boolean {
    return this.#known.has(session);
  }

  /** The title, or what can be said as long as it is not known. */
  title(session: string): string {
    return this.#known.get(session) ?? session.slice(session.indexOf(":") + 1);
  }

  /** @returns whether it was news */
  learn(session: string, firstWords: string): boolean {
    const title = (firstWords.trim().split("\n", 1)[0] ?? "").slice(0, MAX_LENGTH);
    if (title === "" || this.#known.get(session) === title) return false;
    this.#known.set(session, title);
    return true;
  }

  /** After a reset the first message is another one. */
  forget(session: string): void {
    this.#known.delete(session);
    this.#asked.delete(session);
  }

  /** Reads those that are not known yet; tells after each. */
  async load(sessions: readonly string[], learnt: () => void): Promise<void> {
    const missing = sessions.filter((session) => !this.#known.has(session) && !this.#asked.has(session));
    const worker = async (): Promise<void> => {
      for (let next = missing.shift(); next !== undefined; next = missing.shift()) {
        this.#asked.add(next);
        await this.#read(next);
        learnt();
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
  }

  async #read(session: string): Promise<void> {
    try {
      const page = await this.#api.messages(session, 0, 1);
      const first = page?.messages[0];
      if (first?.role === "user") this.learn(session, first.content);
    } catch {
      // The session's own name serves as well, and the next list asks again.
      this.#asked.delete(session);
    }
  }
}
