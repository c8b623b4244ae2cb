export type { Actor, DecodedMail, Decision, Input, Lane } from "./actor.js";
export type { Offloaded, PublishEffect, RunEffect, RunNote, Sealing, TimerEffect, Weight } from "./actor.js";
export type { ArmedTimer, Attempt, Cursors, Entry, Lease, Listed, ListedPublish, ListedRun } from "./entry.js";
export { type DrainLimits, Host } from "./host.js";
export { HOST_DEFAULTS, type HostBase, type HostOptions } from "./options.js";
export type { Bell, LogOrigin, MailItem, MailOrigin, MailPort, OwnerPort, PublishPort } from "./ports.js";
export type { Clock, KernelEvent, Point, Ports } from "./ports.js";
export type {
  BlobOutcome,
  BlobPort,
  RunContext,
  RunPort,
  SegmentPort,
  StartedRun,
  StatePort,
  StoredEntry,
  WriteOutcome,
} from "./ports.js";
