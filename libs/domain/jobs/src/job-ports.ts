import type { JobSource } from "@troupe/contracts";
import type { Clock, PublishPort, StatePort } from "@troupe/kernel";
import type { JobEvent } from "./job-event.js";
import type { JobHandler } from "./job-handler.js";
import type { JobRules } from "./job-rules.js";

/** What doing jobs needs from the world. */
export interface JobPorts {
  readonly jobs: JobSource;
  /** The bucket `attempts`. */
  readonly attempts: StatePort;
  /** Takes the next job and the dead letter. */
  readonly publish: PublishPort;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Must not throw. */
  readonly observe: (event: JobEvent) => void;
}

export interface JobBase {
  readonly handler: JobHandler;
  readonly rules: JobRules;
  readonly ports: JobPorts;
}
