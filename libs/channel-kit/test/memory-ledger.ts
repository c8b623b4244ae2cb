import { DeliveryRecord } from "@troupe/contracts";
import type { DeliveryLedger, StoredDelivery } from "@troupe/jetstream";

/** The ledger of one process's memory. */
export class MemoryLedger implements DeliveryLedger {
  readonly #entries = new Map<string, StoredDelivery>();
  #revision = 0;

  async read({ key, id }: { key: string; id: string }): Promise<StoredDelivery | null> {
    return this.#entries.get(`${key}.${id}`) ?? null;
  }

  async write({ key, id }: { key: string; id: string }, text: string, revision: number): Promise<number | null> {
    const name = `${key}.${id}`;
    if ((this.#entries.get(name)?.revision ?? 0) !== revision) return null;
    this.#revision += 1;
    this.#entries.set(name, { revision: this.#revision, text });
    return this.#revision;
  }

  async remove({ key, id }: { key: string; id: string }): Promise<void> {
    this.#entries.delete(`${key}.${id}`);
  }

  records(): DeliveryRecord[] {
    return [...this.#entries.values()].map(({ text }) => DeliveryRecord.parse(JSON.parse(text)));
  }
}
