import { decode, type Final, OutboxMessage, parseSessionId } from "@troupe/contracts";
import { type Bus, connectBus, outboxFeed } from "@troupe/jetstream";
import type { TroupeSystem } from "@troupe/testkit";

/**
 * The finals that were really sent, read from the stream itself: the place where a second answer would show, whatever
 * a gateway makes of it.
 */
export class OutboxRecord {
  readonly #bus: Bus;

  private constructor(bus: Bus) {
    this.#bus = bus;
  }

  static async open({ nats }: Pick<TroupeSystem, "nats">): Promise<OutboxRecord> {
    const { url, user, pass } = nats;
    return new OutboxRecord(await connectBus({ target: { url, user, pass }, name: "test" }));
  }

  async finals(session: string): Promise<Final[]> {
    const parsed = parseSessionId(session);
    if (!parsed.ok) throw new Error(parsed.reason);
    const events = await outboxFeed(this.#bus).replay(parsed.key, 0);
    return events.flatMap(({ text }) => {
      const read = decode(OutboxMessage, text);
      return read.kind === "ok" && read.message.kind === "final" ? [read.message.final] : [];
    });
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}
