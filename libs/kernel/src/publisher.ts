import type { ListedPublish } from "./entry.js";
import type { ActivationBase, Tenure } from "./tenure.js";

/**
 * Publishes what stored entries list, in order, each until it is confirmed.
 *
 * K3 Publishing copies; ids and bodies come from the entry. What was listed before this activation
 *    began is published again only if its doorbell is still in MAIL: a bell that is gone was acked,
 *    and that happens only after everything it caused was confirmed.
 * K5 Nothing is published by a process that stood still for so long that others may have gone on: what is
 *    listed may have been published and erased since.
 */
const RETRY_MS = 200;

export class Publisher<F, M, R, O> {
  /** Ids of listed effects that are known to be published. */
  readonly confirmed: Set<string>;
  /** Whether all that was given to the last `publish` is confirmed. */
  isDone = true;
  readonly #base: ActivationBase<F, M, R, O>;
  #retryAt = -Infinity;

  constructor(base: ActivationBase<F, M, R, O>, confirmed: ReadonlySet<string> = new Set()) {
    this.#base = base;
    this.confirmed = new Set(confirmed);
  }

  /** Milliseconds until a failed publish is tried again; Infinity when none failed. */
  get retryInMs(): number {
    return this.isDone ? Infinity : this.#retryAt - this.#base.ports.clock.monotonic();
  }

  /** Finds out which effects of an entry found at the start are known to be published. */
  async learn(effects: readonly ListedPublish[]): Promise<void> {
    const { mail } = this.#base.ports;
    const ask = async (bell: number | null) => {
      if (bell === null || (await mail.waiting(bell))) return;
      for (const effect of effects) if (effect.bell === bell) this.confirmed.add(effect.id);
    };
    await Promise.all([...new Set(effects.map((effect) => effect.bell))].map(ask));
  }

  /** Publishes what the stored entry lists now, and forgets about what it lists no more; fenced once that is outdated. */
  async publish(effects: readonly ListedPublish[], tenure: Pick<Tenure<F, M, R, O>, "hold">): Promise<void> {
    const { key, ports } = this.#base;
    for (const id of this.confirmed) if (!effects.some((effect) => effect.id === id)) this.confirmed.delete(id);
    const open = effects.filter((effect) => !this.confirmed.has(effect.id));
    this.isDone = open.length === 0;
    if (ports.clock.monotonic() < this.#retryAt) return;
    for (const effect of open) {
      tenure.hold();
      try {
        await ports.publish.publish(effect);
      } catch (cause) {
        ports.observe({ kind: "trouble", key, what: `publish to ${effect.subject}`, cause });
        this.#retryAt = ports.clock.monotonic() + RETRY_MS;
        return;
      }
      this.confirmed.add(effect.id);
      ports.observe({ kind: "point", point: "published", key, effect });
    }
    this.isDone = true;
  }
}
