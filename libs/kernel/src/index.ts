export type {
  Actor,
  DecodedMail,
  Decision,
  Input,
  Lane,
  PublishEffect,
  RunEffect,
  RunNote,
  TimerEffect,
} from "./actor.js";
export type { ArmedTimer, Attempt, Cursors, Entry, Lease, Listed, ListedPublish, ListedRun } from "./entry.js";
export type {
  Bell,
  Clock,
  KernelEvent,
  LogOrigin,
  MailItem,
  MailOrigin,
  MailPort,
  OwnerPort,
  Point,
  Ports,
  PublishPort,
  RunContext,
  RunPort,
  StartedRun,
  StatePort,
  StoredEntry,
  WriteOutcome,
} from "./ports.js";
export { Host, HOST_DEFAULTS, type HostBase, type HostOptions } from "./host.js";
