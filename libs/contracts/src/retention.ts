import { z } from "zod";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MIB = 1024 * 1024;

const limits = (maxAgeMs: number, maxBytes: number) =>
  z
    .strictObject({
      maxAgeMs: z.number().int().min(HOUR_MS, "at least one hour (3600000)").default(maxAgeMs),
      maxBytes: z.number().int().min(MIB, "at least 1 MiB (1048576)").default(maxBytes),
    })
    .prefault({});

const size = (maxBytes: number) =>
  z.strictObject({ maxBytes: z.number().int().min(MIB, "at least 1 MiB (1048576)").default(maxBytes) }).prefault({});

/** `retention` of the configuration: how long and how much each stream and bucket may hold. Bytes and milliseconds. */
export const Retention = z
  .strictObject({
    mail: limits(30 * DAY_MS, 512 * MIB),
    outbox: limits(14 * DAY_MS, 512 * MIB),
    tasks: limits(7 * DAY_MS, 128 * MIB),
    jobs: limits(30 * DAY_MS, 128 * MIB),
    audit: limits(30 * DAY_MS, 512 * MIB),
    dead: limits(90 * DAY_MS, 128 * MIB),
    sessions: size(1024 * MIB),
    segments: size(2048 * MIB),
    inbound: size(256 * MIB),
    blobs: size(2048 * MIB),
  })
  .prefault({});
export type Retention = z.infer<typeof Retention>;
