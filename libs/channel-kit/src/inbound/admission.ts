import { BUCKET } from "@troupe/contracts";
import { type StoreLevel, StreamFull } from "@troupe/jetstream";
import { delay, type FullStores } from "@troupe/platform";

/** Levels are looked at so often. */
const LOOK_MS = 2_000;
/** Kept free for what was accepted already, so that it can be finished: this share of a bucket, up to so many bytes. */
const RESERVE_SHARE = 1 / 16;
const MOST_RESERVE_BYTES = 16 * 1024 * 1024;

/** Every message is written to the first two; only one that may be repeated is recorded in the third. */
const BUCKETS = [BUCKET.sessions, BUCKET.segments, BUCKET.inbound];

export interface AdmissionPorts {
  readonly levels: (buckets: readonly string[]) => Promise<readonly StoreLevel[]>;
  readonly stores: Pick<FullStores, "refused">;
}

/**
 * Whether new messages are taken in. MAIL may have room for a message while the state that would answer it has none:
 * it would be accepted and lie there. Cancels, resets and erasures are always taken: they make room.
 */
export class Admission {
  readonly #ports: AdmissionPorts;
  readonly #stopping = new AbortController();
  #full: readonly string[] = [];

  constructor(ports: AdmissionPorts) {
    this.#ports = ports;
  }

  /** Looks once, then now and then until stopped. */
  async start(): Promise<void> {
    await this.look();
    void this.#go();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** @throws StreamFull when a message could not be answered, or not be told from its repetition */
  check({ repeatable }: { readonly repeatable: boolean }): void {
    const store = this.#full.find((bucket) => repeatable || bucket !== BUCKET.inbound);
    if (store !== undefined) throw new StreamFull(store);
  }

  /** What cannot be looked at now stays as it was. */
  async look(): Promise<void> {
    const levels = await this.#ports.levels(BUCKETS).catch(() => undefined);
    if (levels === undefined) return;
    this.#full = levels.filter(isFull).map(({ bucket }) => bucket);
    for (const bucket of this.#full) {
      this.#ports.stores.refused(bucket, `${new StreamFull(bucket).message}; new messages are refused until then`);
    }
  }

  async #go(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await delay(LOOK_MS, signal).catch(() => undefined);
      if (!signal.aborted) await this.look();
    }
  }
}

function isFull({ bytes, maxBytes }: StoreLevel): boolean {
  return maxBytes > 0 && bytes > maxBytes - Math.min(maxBytes * RESERVE_SHARE, MOST_RESERVE_BYTES);
}
