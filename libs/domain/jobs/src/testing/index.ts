export { JOB_LAWS, type JobLaw, type JobWorld } from "./job-laws.js";
export { type JobOf, listedJob } from "./listed-job.js";
export { MemoryEntries } from "./memory-entries.js";
export { type DeadMessage, MemoryJobs, type WaitingJob } from "./memory-jobs.js";
export { VirtualClock } from "./virtual-clock.js";
