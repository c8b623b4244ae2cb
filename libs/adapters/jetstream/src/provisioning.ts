import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamInfo,
} from "@nats-io/jetstream";
import type { Topology } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { BusError } from "./bus-error.js";
import { changeText, type Declared, type LimitChange, limitChanges } from "./limit-change.js";
import { differs, ensureConsumer, hasCode } from "./provision-consumer.js";
import { settingOf } from "./store-setting.js";
import { bucketConfig, type DeclaredStream, objectStoreConfig, streamConfig } from "./stream-config.js";

/**
 * Makes everything that the topology declares be there, with its present limits. Any process may do
 * so at any time, also several at once; what is as declared is left alone. Nothing is ever deleted:
 * when a size is below what its stream or bucket holds already, nothing is changed at all. Rejects with
 * a `BusError`.
 *
 * @returns the limits that it changed. They hold for every process, so somebody should hear of them. Of processes that
 *   start at the same time more than one may name the same change.
 */
export async function provision(bus: Bus, topology: Topology): Promise<LimitChange[]> {
  if (bus.maxPayload < LEAST_PAYLOAD) {
    throw new BusError(
      `NATS takes messages of ${bus.maxPayload} bytes at most: set its max_payload to ${LEAST_PAYLOAD} (its default) or more`,
    );
  }
  const wire = wireOf(bus);
  const jsm = await jetstreamManager(wire.nc, { checkAPI: false });
  const changes = await apply(jsm, await planned(jsm, declaredIn(topology)));
  for (const spec of topology.consumers) {
    await explained({ what: `consumer ${spec.name}` }, () => ensureConsumer(wire, spec), changes);
  }
  return changes;
}

/** What states, pieces of histories and of large texts are cut to fit into (K12). */
const LEAST_PAYLOAD = 1024 * 1024;

function declaredIn(topology: Topology): Declared[] {
  return [
    ...topology.streams.map((spec) => ({ config: streamConfig(spec), what: spec.name, store: spec.name })),
    ...topology.buckets.map((spec) => ({
      config: bucketConfig(spec),
      what: `bucket ${spec.name}`,
      store: spec.name,
    })),
    ...topology.objectStores.map((spec) => ({
      config: objectStoreConfig(spec),
      what: `object store ${spec.name}`,
      store: spec.name,
    })),
  ];
}

/**
 * What there is to do, in order. Everything is read before anything is changed, so that a configuration that is refused
 * leaves no trace. Rejects when a size is too small.
 */
async function planned(jsm: JetStreamManager, declared: readonly Declared[]): Promise<Declared[]> {
  const smaller: Declared[] = [];
  const others: Declared[] = [];
  const losses: string[] = [];
  // One after the other: the error for the first that does not fit is then always the same one.
  for (const one of declared) {
    const found = await explained(one, () => streamInfo(jsm, one.config.name));
    if (found !== undefined && !differs(found.config, one.config)) continue;
    losses.push(...lossOf(found, one));
    (found !== undefined && lowers(found, one) ? smaller : others).push(one);
  }
  refuse(losses);
  // What is made smaller first: the server may need the room for the others.
  return [...smaller, ...others];
}

async function apply(jsm: JetStreamManager, plan: readonly Declared[]): Promise<LimitChange[]> {
  const changes: LimitChange[] = [];
  for (const one of plan) changes.push(...(await explained(one, () => ensureStream(jsm, one), changes)));
  return changes;
}

const NAME_IN_USE: readonly number[] = [10_058];
/** Storage, memory or the account's limits do not suffice. */
const NO_ROOM: readonly number[] = [10_002, 10_023, 10_028, 10_047];

/** Reads again what it changes: another process may have done it since, or mail have come. */
async function ensureStream(jsm: JetStreamManager, declared: Declared): Promise<LimitChange[]> {
  const { config } = declared;
  const found = (await streamInfo(jsm, config.name)) ?? (await created(jsm, config));
  if (found === undefined || !differs(found.config, config)) return [];
  refuse(lossOf(found, declared));
  await jsm.streams.update(config.name, config);
  return limitChanges(found.config, declared);
}

async function streamInfo(jsm: JetStreamManager, name: string): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.info(name);
  } catch (cause) {
    if (hasCode(cause, [JetStreamApiCodes.StreamNotFound])) return undefined;
    throw cause;
  }
}

/** Creates the stream; the present one is returned if another process was first. */
async function created(jsm: JetStreamManager, config: DeclaredStream): Promise<StreamInfo | undefined> {
  try {
    await jsm.streams.add(config);
    return undefined;
  } catch (cause) {
    if (!hasCode(cause, NAME_IN_USE)) throw cause;
    return jsm.streams.info(config.name);
  }
}

function lowers(found: StreamInfo, { config }: Declared): boolean {
  return config.max_bytes > 0 && (found.config.max_bytes <= 0 || found.config.max_bytes > config.max_bytes);
}

/** The server enforces a lowered size by dropping the oldest: accepted mail, session state and undelivered replies alike. */
function lossOf(found: StreamInfo | undefined, declared: Declared): string[] {
  if (found === undefined || !lowers(found, declared)) return [];
  const { config, what, store } = declared;
  if (found.state.bytes <= config.max_bytes) return [];
  return [
    `${what} already holds ${found.state.bytes} bytes, more than ${settingOf(store)} allows (${config.max_bytes})`,
  ];
}

function refuse(losses: readonly string[]): void {
  if (losses.length === 0) return;
  const raise = losses.length === 1 ? "raise it" : "raise them";
  throw new BusError(`${losses.join(", ")}: ${raise}; all services need the same TROUPE_CONFIG`);
}

/** @param done changes that stay although the work fails: not even then are they kept quiet */
async function explained<T>(
  one: Pick<Declared, "what"> & Partial<Declared>,
  work: () => Promise<T>,
  done: readonly LimitChange[] = [],
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const reason = cause instanceof BusError ? cause.message : explanation(one, cause);
    const told = done.length === 0 ? "" : ` (changed before that: ${done.map(changeText).join(", ")})`;
    throw new BusError(reason + told, { cause });
  }
}

function explanation({ what, config, store = "" }: Pick<Declared, "what"> & Partial<Declared>, cause: unknown): string {
  if (config !== undefined && hasCode(cause, NO_ROOM)) {
    const mebibytes = Math.ceil(config.max_bytes / (1024 * 1024));
    return `NATS has no room for ${what} (${mebibytes} MiB): lower ${settingOf(store)} or raise the server's max_file_store`;
  }
  const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
  const verb = cause instanceof JetStreamApiError ? "was refused" : "failed";
  return `setting up ${what} on NATS ${verb}: ${reason}`;
}
