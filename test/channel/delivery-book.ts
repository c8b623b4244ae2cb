import { DeliveryRecord, parseSessionId, replyIdOf } from "@troupe/contracts";
import { type Bus, connectBus, deliveryLedger } from "@troupe/jetstream";
import type { TroupeSystem } from "@troupe/testkit";

/** The delivery ledger, for looking into. */
export class DeliveryBook {
  readonly #bus: Bus;

  private constructor(bus: Bus) {
    this.#bus = bus;
  }

  static async open({ nats }: Pick<TroupeSystem, "nats">): Promise<DeliveryBook> {
    const { url, user, pass } = nats;
    return new DeliveryBook(await connectBus({ target: { url, user, pass }, name: "test" }));
  }

  /** What is recorded of the reply of a turn in a conversation that was never reset. */
  async of(session: string, turn: string): Promise<DeliveryRecord | undefined> {
    const parsed = parseSessionId(session);
    if (!parsed.ok) throw new Error(parsed.reason);
    const stored = await deliveryLedger(this.#bus).read({ key: parsed.key, id: `${replyIdOf(turn)}_0` });
    return stored === null ? undefined : DeliveryRecord.parse(JSON.parse(stored.text));
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}
