import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  jetstreamManager,
  ReplayPolicy,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { ConsumerSpec } from "@troupe/contracts";
import type { Wire } from "./wire.js";

/** The one priority group of consumers that serve one process at a time. */
export const ONE_AT_A_TIME = "one";

/** The consumer exists with another configuration: another process made it at the same time, or an older version. */
const ALREADY_EXISTS: readonly number[] = [10_013, 10_105, 10_148];

/** Makes the durable consumer be there as declared. Any number of processes may do so at the same time. */
export async function ensureConsumer(wire: Wire, spec: ConsumerSpec): Promise<void> {
  const { consumers } = await jetstreamManager(wire.nc, { checkAPI: false });
  const wanted = configOf(spec);
  try {
    const found = (await consumers.info(spec.stream, spec.name)).config;
    if (!differs(found, wanted)) return;
  } catch (cause) {
    if (!hasCode(cause, [JetStreamApiCodes.ConsumerNotFound])) throw cause;
    try {
      await consumers.add(spec.stream, wanted);
      return;
    } catch (raced) {
      if (!hasCode(raced, ALREADY_EXISTS)) throw raced;
    }
  }
  await consumers.update(spec.stream, spec.name, wanted);
}

function configOf(spec: ConsumerSpec): Partial<ConsumerConfig> {
  return {
    name: spec.name,
    durable_name: spec.name,
    filter_subject: spec.filter,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    replay_policy: ReplayPolicy.Instant,
    ack_wait: nanos(spec.ackWaitMs),
    max_deliver: spec.maxDeliver,
    max_ack_pending: spec.maxAckPending,
    ...(spec.failoverMs === undefined
      ? {}
      : {
          priority_groups: [ONE_AT_A_TIME],
          priority_policy: "pinned_client",
          priority_timeout: nanos(spec.failoverMs),
        }),
  };
}

/** Whether something that we declare is otherwise; what the server adds is its own business. */
export function differs(found: object, wanted: object): boolean {
  const have = new Map<string, unknown>(Object.entries(found));
  return Object.entries(wanted).some(([name, value]) => JSON.stringify(have.get(name)) !== JSON.stringify(value));
}

export function hasCode(cause: unknown, codes: readonly number[]): boolean {
  return cause instanceof JetStreamApiError && codes.includes(cause.code);
}
