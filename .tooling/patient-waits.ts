import { vi } from "vitest";

/**
 * How long a test waits for a condition before it fails. Conditions come true within milliseconds; vitest's own second
 * is shorter than a busy machine may let a browser or a process stand still.
 */
const PATIENCE_MS = 30_000;

type WaitOptions = Parameters<typeof vi.waitFor>[1];

const patient = (options: WaitOptions): WaitOptions =>
  typeof options === "number" ? options : { timeout: PATIENCE_MS, interval: 25, ...options };

const { waitFor, waitUntil } = vi;
// There is no setting for the two, as there is for `expect.poll`.
vi.waitFor = (condition, options) => waitFor(condition, patient(options));
vi.waitUntil = (condition, options) => waitUntil(condition, patient(options));
