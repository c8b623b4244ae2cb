import { type JobPull, JOBS, type JobSource } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { consumerOf, ConsumerSource } from "./consumer-source.js";
import { DeliveredJob } from "./delivered-job.js";

/** Jobs out of JOBS, through the durable consumer that all processes doing their kind share. */
export function jobSource(bus: Bus): JobSource {
  const wire = wireOf(bus);
  return {
    pull: async ({ kind, capacity, onJob, onTrouble }: JobPull) => {
      if (!(capacity >= 1)) throw new RangeError("capacity must be at least 1");
      const source = new ConsumerSource(wire, {
        consumer: consumerOf(JOBS[kind].consumer),
        capacity,
        read: (message, onDone) => DeliveredJob.in(wire, message, onDone),
        onDelivery: onJob,
        onTrouble: (reason) => onTrouble(`jobs (${kind}): ${reason}`),
      });
      await source.open();
      return { stop: () => source.stop() };
    },
  };
}
