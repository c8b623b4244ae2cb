export { JobConsumer } from "./job-consumer.js";
export type { JobEvent } from "./job-event.js";
export type { JobHandler, JobOutcome, JobTask, Look } from "./job-handler.js";
export { jobEffect } from "./job-message.js";
export type { JobBase, JobPorts } from "./job-ports.js";
export { JOB_DEFAULTS, type JobRules } from "./job-rules.js";
