import { BUCKET, Retention } from "@troupe/contracts";

/** The setting that raises the limit of a stream or bucket, for a person. */
export function settingOf(store: string): string {
  const section = store === BUCKET.deliveries ? "outbox" : store.toLowerCase();
  return section in Retention.parse(undefined) ? `retention.${section}.maxBytes` : "the sizes under retention";
}
