import { BUCKET, decode, digestOf, encode, SCHEMA_VERSION } from "@troupe/contracts";
import { z } from "zod";
import { bucketStream, entrySubject, keyOfEntry } from "./bucket.js";
import { type Bus, wireOf } from "./bus.js";
import { callOut } from "./call-out.js";
import { isConflict } from "./compare-and-set.js";
import { readFromLeader, readLast } from "./stored-message.js";
import { publishOnce } from "./stored-publish.js";
import { StreamTail } from "./stream-tail.js";
import { headersOf, type Wire } from "./wire.js";

/** A provider wants to be left alone. */
export interface ProviderPause {
  /** Until the pause ends. */
  readonly leftMs: number;
  /** The whole pause. */
  readonly lengthMs: number;
  /** Why, as the process that was refused named it. */
  readonly code: string;
}

/**
 * One pause per provider, shared by all processes.
 *
 * P1 Who is told to wait tells everybody, and holds to it at once; nobody waits for NATS.
 * P2 A pause never ends earlier than the latest end that was written: entries are replaced by CAS.
 * P3 Who starts during a pause knows it before it makes its first call.
 * P4 Ends travel as wall-clock instants. A reader whose clock is behind waits for the whole pause at most; one whose
 *    clock is ahead calls early and is told again.
 */
export interface ProviderPauses {
  /** Reads the pauses of these providers, then follows all of them until stopped. Rejects when NATS does not answer. */
  start(providers: readonly string[]): Promise<{ stop(): Promise<void> }>;
  /** The pause of a provider, as long as it lasts. A provider is named by any text that all processes agree on. */
  of(provider: string): ProviderPause | undefined;
  /** Begins a pause, or makes the present one longer. Resolves when the others can know; never rejects. */
  pause(provider: string, lengthMs: number, code: string): Promise<void>;
}

export interface PauseListeners {
  /** A pause began or became longer, here or elsewhere. */
  readonly onPause: (provider: string, pause: ProviderPause) => void;
  /** The others could not be told. */
  readonly onTrouble: (line: string) => void;
}

/** An entry lives for an hour (topology), so no pause is longer: after an hour the provider is asked once more. */
const LONGEST_MS = 3_600_000;
/** Refusals of calls under way at the same time differ by this much; the others need not hear of each. */
const SAME_END_MS = 100;
const MAX_WRITES = 5;
const STREAM = bucketStream(BUCKET.pauses);

const PauseEntry = z.object({
  v: z.number().int().positive(),
  provider: z.string(),
  code: z.string(),
  untilAt: z.number(),
  lengthMs: z.number().positive(),
});

interface Known {
  readonly lengthMs: number;
  readonly code: string;
  /** On this process's monotonic clock. */
  readonly until: number;
}

export function providerPauses(bus: Bus, listeners: PauseListeners): ProviderPauses {
  return new Pauses(wireOf(bus), listeners);
}

function newerThanKnown(text: string): number | undefined {
  const decoded = decode(PauseEntry, text);
  return decoded.kind === "newer" ? decoded.version : undefined;
}

class Pauses implements ProviderPauses {
  readonly #wire: Wire;
  readonly #listeners: PauseListeners;
  readonly #known = new Map<string, Known>();
  readonly #revisions = new Map<string, number>();

  constructor(wire: Wire, listeners: PauseListeners) {
    this.#wire = wire;
    this.#listeners = listeners;
  }

  async start(providers: readonly string[]): Promise<{ stop(): Promise<void> }> {
    const tail = new StreamTail(this.#wire, {
      stream: STREAM,
      filter: entrySubject(BUCKET.pauses, "*"),
      after: "last",
      onMessage: ({ seq, subject, text }) => this.#take(keyOfEntry(BUCKET.pauses, subject), seq, text),
    });
    await tail.start();
    // The tail brings the present entries too, but nobody can say when.
    for (const key of providers.map(digestOf)) {
      const found = await readLast(this.#wire, STREAM, entrySubject(BUCKET.pauses, key)).catch(async (cause) => {
        await tail.stop();
        throw cause;
      });
      if (found !== null) this.#take(key, found.seq, found.text);
    }
    return { stop: () => tail.stop() };
  }

  of(provider: string): ProviderPause | undefined {
    const key = digestOf(provider);
    const known = this.#known.get(key);
    if (known === undefined) return undefined;
    const leftMs = known.until - performance.now();
    if (leftMs > 0) return { leftMs, lengthMs: known.lengthMs, code: known.code };
    this.#known.delete(key);
    return undefined;
  }

  async pause(provider: string, askedMs: number, code: string): Promise<void> {
    const lengthMs = Math.min(Math.max(askedMs, 1), LONGEST_MS);
    const key = digestOf(provider);
    const others = this.#known.get(key)?.until ?? 0;
    const until = performance.now() + lengthMs;
    this.#hold(key, provider, { lengthMs, code, until });
    if (until <= others + SAME_END_MS) return;
    const untilAt = Date.now() + lengthMs;
    try {
      await this.#write(key, { v: SCHEMA_VERSION, provider, code, untilAt, lengthMs });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#listeners.onTrouble(`the pause of ${provider} is known to this process only: ${reason}`);
    }
  }

  async #write(key: string, entry: z.infer<typeof PauseEntry>): Promise<void> {
    const subject = entrySubject(BUCKET.pauses, key);
    const body = encode(PauseEntry, entry);
    for (let writes = 1; ; writes++) {
      const headers = headersOf({ "Nats-Expected-Last-Subject-Sequence": String(this.#revisions.get(key) ?? 0) });
      try {
        const { seq } = await publishOnce(this.#wire, { subject, body, headers });
        this.#revisions.set(key, Math.max(seq, this.#revisions.get(key) ?? 0));
        return;
      } catch (cause) {
        if (!isConflict(cause) || writes === MAX_WRITES) throw cause;
      }
      // Another process was first, or the entry has expired (P2).
      const found = await readFromLeader(this.#wire, STREAM, { last_by_subj: subject });
      const newer = found === null ? undefined : newerThanKnown(found.text);
      if (newer !== undefined) throw new Error(`a newer version (schema ${newer}) has written it and is left alone`);
      this.#revisions.set(key, found?.seq ?? 0);
      const stored = found === null ? undefined : this.#take(key, found.seq, found.text);
      if (stored !== undefined && stored.untilAt >= entry.untilAt - SAME_END_MS) return;
    }
  }

  #take(key: string, seq: number, text: string): z.infer<typeof PauseEntry> | undefined {
    const decoded = decode(PauseEntry, text);
    // Not to be replaced: without its revision a write is refused. One that nobody can read is.
    if (decoded.kind !== "newer") this.#revisions.set(key, Math.max(seq, this.#revisions.get(key) ?? 0));
    if (decoded.kind !== "ok") return undefined;
    const { provider, code, untilAt, lengthMs } = decoded.message;
    const leftMs = Math.min(untilAt - Date.now(), lengthMs, LONGEST_MS);
    if (leftMs > 0) this.#hold(key, provider, { lengthMs, code, until: performance.now() + leftMs });
    return decoded.message;
  }

  #hold(key: string, provider: string, pause: Known): void {
    const before = this.#known.get(key);
    // The same pause, heard of again. Not even moved, or many small steps would lead away from what is stored.
    if (before !== undefined && pause.until <= before.until + SAME_END_MS) return;
    this.#known.set(key, pause);
    const { until, lengthMs, code } = pause;
    callOut(() => this.#listeners.onPause(provider, { leftMs: until - performance.now(), lengthMs, code }));
  }
}
