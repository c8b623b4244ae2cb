import { type Entry, type ListedPublish, publishesOf } from "./entry.js";
import type { Ports } from "./ports.js";

/**
 * Publishes what stored entries list, in order, each until it is confirmed.
 *
 * K3 Publishing copies; ids and bodies come from the entry. What was listed before this activation
 *    began is published again only if its doorbell is still in MAIL: a bell that is gone was acked,
 *    and that happens only after everything it caused was confirmed.
 */
const RETRY_MS = 200;

type PublisherPorts = Pick<Ports<never, never, never>, "publish" | "mail" | "clock" | "observe">;

export class Publisher {
  readonly confirmed: Set<string>;
  readonly #key: string;
  readonly #ports: PublisherPorts;
  #done = true;
  #retryAt = -Infinity;

  constructor(key: string, ports: PublisherPorts, confirmed: ReadonlySet<string> = new Set()) {
    this.#key = key;
    this.#ports = ports;
    this.confirmed = new Set(confirmed);
  }

  /** Whether all that was given to the last `publish` is confirmed. */
  get isDone(): boolean {
    return this.#done;
  }

  /** Milliseconds until a failed publish is tried again; Infinity when none failed. */
  get retryInMs(): number {
    return this.#done ? Infinity : this.#retryAt - this.#ports.clock.monotonic();
  }

  /** Finds out which effects of an entry found at the start are known to be published. */
  async learn<F, R>(entry: Entry<F, R>): Promise<void> {
    const effects = publishesOf(entry.outstanding);
    const bells = [...new Set(effects.map((effect) => effect.bell))].filter((bell) => bell !== null);
    const gone = new Set<number>();
    await Promise.all(
      bells.map(async (bell) => {
        if (!(await this.#ports.mail.waiting(bell))) gone.add(bell);
      }),
    );
    for (const { bell, id } of effects) if (bell !== null && gone.has(bell)) this.confirmed.add(id);
  }

  async publish(effects: readonly ListedPublish[]): Promise<void> {
    const open = effects.filter((effect) => !this.confirmed.has(effect.id));
    this.#done = open.length === 0;
    if (this.#done || this.#ports.clock.monotonic() < this.#retryAt) return;
    for (const effect of open) {
      try {
        await this.#ports.publish.publish(effect);
      } catch (cause) {
        this.#ports.observe({ kind: "trouble", key: this.#key, what: `publish to ${effect.subject}`, cause });
        this.#retryAt = this.#ports.clock.monotonic() + RETRY_MS;
        return;
      }
      this.confirmed.add(effect.id);
      this.#ports.observe({ kind: "point", point: "published", key: this.#key });
    }
    this.#done = true;
  }

  /** Forgets about effects that the stored entry lists no more. */
  keepOnly(listed: readonly ListedPublish[]): void {
    const ids = new Set(listed.map((effect) => effect.id));
    for (const id of this.confirmed) if (!ids.has(id)) this.confirmed.delete(id);
  }
}
