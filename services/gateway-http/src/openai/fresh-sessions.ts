/** How long a request that nobody got the answer of may be taken up again. */
const REJOIN_MS = 10 * 60_000;
const MAX_REMEMBERED = 10_000;

interface FreshSession {
  readonly session: string;
  /** Set when the request ended without its answer having been delivered. */
  lostAt: number | null;
}

/**
 * Sessions made for completions that name none. A client that lost the answer (time-out, cut
 * connection, 503), or was told of a failure that may pass, sends the same body again: it gets the session of the lost request, and so the same
 * turn. Two people who say the same thing at the same time must not share a session, so only a request
 * whose answer was lost is taken up again, and one under way only by a client that says it retries.
 *
 * Known in this process only. A client that needs this across gateways names a session or a key.
 */
export class FreshSessions {
  readonly #sessions = new Map<string, FreshSession>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  rejoin(request: string, isRetry: boolean): string | undefined {
    const known = this.#sessions.get(request);
    if (known === undefined) return undefined;
    if (known.lostAt === null) return isRetry ? known.session : undefined;
    return this.#now() - known.lostAt <= REJOIN_MS ? known.session : undefined;
  }

  begin(request: string, session: string): void {
    this.#sessions.delete(request);
    this.#sessions.set(request, { session, lostAt: null });
    if (this.#sessions.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }

  /** The request has ended; its answer has reached the client or not. */
  end(request: string, session: string, delivered: boolean): void {
    const known = this.#sessions.get(request);
    if (known === undefined || known.session !== session) return;
    if (delivered) this.#sessions.delete(request);
    else known.lostAt = this.#now();
  }
}
