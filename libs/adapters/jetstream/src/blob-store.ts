import { BLOBS, type SessionKey } from "@troupe/contracts";
import { Objm } from "@nats-io/obj";
import { type Bus, wireOf } from "./bus.js";

/**
 * Large content of a conversation in the object store. Names are scoped to the conversation, so that
 * one cannot read another's.
 */
export interface BlobStore {
  /** Stores text under a name of its content's; storing it again changes nothing. */
  put(key: SessionKey, name: string, text: string): Promise<void>;
  get(key: SessionKey, name: string): Promise<string | undefined>;
}

export function blobStore(bus: Bus): BlobStore {
  // Opened without a check: provisioning has made the store.
  const store = new Objm(wireOf(bus).nc).open(BLOBS, false);
  return {
    put: async (key, name, text) => {
      await (await store).putBlob({ name: `${key}/${name}` }, new TextEncoder().encode(text));
    },
    get: async (key, name) => {
      const bytes = await (await store).getBlob(`${key}/${name}`);
      return bytes === null ? undefined : new TextDecoder().decode(bytes);
    },
  };
}
