import { BUCKET, Retention } from "@troupe/contracts";

/** What the configuration limits of a stream or bucket: its size in bytes, its age in milliseconds. */
export type Limit = "maxBytes" | "maxAgeMs";

const SECTIONS = new Map<string, object>(Object.entries(Retention.parse(undefined)));

/** The setting that raises the limit of a stream or bucket, for a person. */
export function settingOf(store: string): string {
  const section = store === BUCKET.deliveries ? "outbox" : store;
  return ownSetting(section, "maxBytes") ?? "the sizes under retention";
}

/** The setting that is exactly this limit of the store; none if the limit is fixed or follows from another one. */
export function ownSetting(store: string, limit: Limit): string | undefined {
  const section = store.toLowerCase();
  const known = SECTIONS.get(section);
  return known !== undefined && limit in known ? `retention.${section}.${limit}` : undefined;
}
