import { decode, type Final, OutboxMessage, parseSessionId, type SessionKey } from "@troupe/contracts";
import { type Bus, connectBus, outboxFeed, sessionReader } from "@troupe/jetstream";
import type { TroupeSystem } from "@troupe/testkit";
import { expect, vi } from "vitest";
import { z } from "zod";

const Listed = z.object({ outstanding: z.array(z.object({ id: z.string(), subject: z.string().optional() })) });

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

  /** When all that the state promises has been sent: a client may know of a final from the state, before it is. */
  async finals(session: string): Promise<Final[]> {
    const parsed = parseSessionId(session);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { key } = parsed;
    const promised = await this.#promised(key);
    const messages = await vi.waitFor(async () => {
      const sent = await this.#sent(key);
      expect(sent.map(({ id }) => id)).toEqual(expect.arrayContaining(promised));
      return sent;
    });
    return messages.flatMap((message) => (message.kind === "final" ? [message.final] : []));
  }

  /** Ids of the messages to people that the state lists, which may have been sent already (K3). */
  async #promised(key: SessionKey): Promise<string[]> {
    const stored = await sessionReader(this.#bus).readFresh(key);
    if (stored === null) return [];
    const { outstanding } = Listed.parse(JSON.parse(stored.text));
    return outstanding.filter(({ subject }) => subject?.startsWith("outbox.")).map(({ id }) => id);
  }

  async #sent(key: SessionKey): Promise<OutboxMessage[]> {
    const events = await outboxFeed(this.#bus).replay(key, 0);
    return events.flatMap(({ text }) => {
      const read = decode(OutboxMessage, text);
      return read.kind === "ok" ? [read.message] : [];
    });
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}
