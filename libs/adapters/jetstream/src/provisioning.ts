import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StreamInfo,
} from "@nats-io/jetstream";
import type { Topology } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { BusError } from "./bus-error.js";
import { differs, ensureConsumer, hasCode } from "./provision-consumer.js";
import { settingOf } from "./store-setting.js";
import { bucketConfig, type DeclaredStream, objectStoreConfig, streamConfig } from "./stream-config.js";

/**
 * Makes everything that the topology declares be there, with its present limits. Any process may do
 * so at any time, also several at once; what is as declared is left alone. Nothing is ever deleted,
 * and a limit is not lowered below what a stream that refuses new messages already holds. Rejects with
 * a `BusError`.
 */
export async function provision(bus: Bus, topology: Topology): Promise<void> {
  if (bus.maxPayload < LEAST_PAYLOAD) {
    throw new BusError(
      `NATS takes messages of ${bus.maxPayload} bytes at most: set its max_payload to ${LEAST_PAYLOAD} (its default) or more`,
    );
  }
  const wire = wireOf(bus);
  const jsm = await jetstreamManager(wire.nc, { checkAPI: false });
  const declared: Declared[] = [
    ...topology.streams.map((spec) => ({
      config: streamConfig(spec),
      what: spec.name,
      setting: spec.name.toLowerCase(),
    })),
    ...topology.buckets.map((spec) => ({
      config: bucketConfig(spec),
      what: `bucket ${spec.name}`,
      setting: spec.name,
    })),
    ...topology.objectStores.map((spec) => ({
      config: objectStoreConfig(spec),
      what: `object store ${spec.name}`,
      setting: spec.name,
    })),
  ];
  // One after the other: the error for the first that does not fit is then always the same one.
  for (const one of declared) await explained(one, () => ensureStream(jsm, one));
  for (const spec of topology.consumers) {
    await explained({ what: `consumer ${spec.name}` }, () => ensureConsumer(wire, spec));
  }
}

/** What states, pieces of histories and of large texts are cut to fit into (K12). */
const LEAST_PAYLOAD = 1024 * 1024;

interface Declared {
  readonly config: DeclaredStream;
  /** For a person. */
  readonly what: string;
  /** Its name under `retention` in the configuration, if it has limits of its own there. */
  readonly setting: string;
}

const NAME_IN_USE: readonly number[] = [10_058];
/** Storage, memory or the account's limits do not suffice. */
const NO_ROOM: readonly number[] = [10_002, 10_023, 10_028, 10_047];

async function ensureStream(jsm: JetStreamManager, declared: Declared): Promise<void> {
  const { config } = declared;
  const found = (await streamInfo(jsm, config.name)) ?? (await created(jsm, config));
  if (found === undefined || !differs(found.config, config)) return;
  refuseLoss(found, declared);
  await jsm.streams.update(config.name, config);
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

/** The server enforces a lowered limit by dropping the oldest, accepted mail and session state alike. */
function refuseLoss(found: StreamInfo, { config, what, setting }: Declared): void {
  const refuses = config.discard === DiscardPolicy.New;
  if (!refuses || config.max_bytes < 0 || found.state.bytes <= config.max_bytes) return;
  throw new BusError(
    `${what} already holds ${found.state.bytes} bytes, more than ${settingOf(setting)} allows (${config.max_bytes}): raise it`,
  );
}

async function explained(one: Pick<Declared, "what"> & Partial<Declared>, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof BusError) throw cause;
    throw new BusError(explanation(one, cause), { cause });
  }
}

function explanation(
  { what, config, setting = "" }: Pick<Declared, "what"> & Partial<Declared>,
  cause: unknown,
): string {
  if (config !== undefined && hasCode(cause, NO_ROOM)) {
    const mebibytes = Math.ceil(config.max_bytes / (1024 * 1024));
    return `NATS has no room for ${what} (${mebibytes} MiB): lower ${settingOf(setting)} or raise the server's max_file_store`;
  }
  const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
  const verb = cause instanceof JetStreamApiError ? "was refused" : "failed";
  return `setting up ${what} on NATS ${verb}: ${reason}`;
}
