/**
 * A whole installation for a test: a NATS server of its own, every service a process of its own run from built output,
 * and a model that the test plays at the wire. Nothing in it is simulated but the model.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type NatsServer, type NatsOptions, startNats } from "./nats-server.js";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.js";
import { ServiceProcess } from "./service-process.js";
import { ensureBuilt } from "./service-process-build.js";
import { type ApiAnswer, type ApiRequest, askApi } from "./troupe-system-api.js";

export interface TroupeOptions {
  /** How many of each; by default one. */
  readonly orchestrators?: number;
  readonly gateways?: number;
  /** By default a model of the system's own, which answers with an echo. */
  readonly model?: ScriptedModel;
  readonly nats?: NatsOptions;
  /** Text of `troupe.yaml`. */
  readonly config?: string;
  /** Added to the environment of every service. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How far each service had written. */
export type LogMark = ReadonlyMap<ServiceProcess, number>;

export interface TroupeSystem {
  readonly nats: NatsServer;
  /** `NATS_URL` as the services have it, login included. */
  readonly natsUrl: string;
  readonly model: ScriptedModel;
  readonly dataFolder: string;
  readonly token: string;
  /** Address of the first gateway; it stays over restarts. */
  readonly url: string;
  readonly orchestrators: readonly ServiceProcess[];
  readonly gateways: readonly ServiceProcess[];
  /** Asks the first gateway; `path` begins with a slash. */
  api(path: string, request?: ApiRequest): Promise<ApiAnswer>;
  /** Starts one more; ready when this resolves. */
  addOrchestrator(env?: Readonly<Record<string, string>>): Promise<ServiceProcess>;
  /** Ends the NATS server, by default at once, and starts it again on its port and store. */
  restartNats(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** What all services wrote, all of it or since `logMark`, for whoever has to find out why a test failed. */
  logs(since?: LogMark): string;
  logMark(): LogMark;
  /** Ends everything and removes the data folder. Stopping twice is fine. */
  stop(): Promise<void>;
}

export async function startTroupe(options: TroupeOptions = {}): Promise<TroupeSystem> {
  await ensureBuilt();
  const parts = new Parts();
  try {
    return await assemble(options, parts);
  } catch (error) {
    await parts.stop();
    throw error;
  }
}

/** What has been started, to be ended in reverse order. */
class Parts {
  readonly #stops: (() => Promise<unknown>)[] = [];

  add(stop: () => Promise<unknown>): void {
    this.#stops.push(stop);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0).reverse()) await stop();
  }
}

async function assemble(options: TroupeOptions, parts: Parts): Promise<TroupeSystem> {
  const dataFolder = await mkdtemp(join(tmpdir(), "troupe-test-"));
  parts.add(() => rm(dataFolder, { recursive: true, force: true }));
  const nats = await startNats(options.nats);
  parts.add(() => nats.stop());
  const model = options.model ?? (await startScriptedModel());
  if (options.model === undefined) parts.add(() => model.close());
  const natsUrl = `nats://${nats.user}:${nats.pass}@127.0.0.1:${nats.port}`;
  const env = await environment(options, { dataFolder, natsUrl, modelUrl: model.url });
  const orchestrators: ServiceProcess[] = [];
  const gateways: ServiceProcess[] = [];
  // All at once, like the rest of their lives.
  parts.add(() => Promise.all([...gateways, ...orchestrators].map((service) => service.stop())));

  const add = async (all: ServiceProcess[], service: string, more: Readonly<Record<string, string>>) => {
    const process = new ServiceProcess({ name: `${service}-${all.length}`, service, env: { ...env, ...more } });
    all.push(process);
    await process.start();
    return process;
  };
  await Promise.all([
    ...Array.from({ length: options.orchestrators ?? 1 }, () => add(orchestrators, "orchestrator", {})),
    ...Array.from({ length: options.gateways ?? 1 }, () => add(gateways, "gateway-http", { TROUPE_HTTP_PORT: "0" })),
  ]);
  const [gateway] = gateways;
  const port = gateway === undefined ? 0 : Number(await gateway.field("HTTP gateway open", "port"));
  const url = `http://127.0.0.1:${port}`;
  const token = gateway === undefined ? "" : (await readFile(join(dataFolder, "keys", "http-token"), "utf8")).trim();
  return {
    nats,
    natsUrl,
    model,
    dataFolder,
    token,
    url,
    orchestrators,
    gateways,
    api: (path, request) => askApi(`${url}${path}`, token, request),
    addOrchestrator: (more = {}) => add(orchestrators, "orchestrator", more),
    restartNats: async (signal = "SIGKILL") => {
      await nats.kill(signal);
      await nats.restart();
    },
    logs: (since) => logsOf([...gateways, ...orchestrators], since),
    logMark: () => new Map([...gateways, ...orchestrators].map((service) => [service, service.output.mark])),
    stop: () => parts.stop(),
  };
}

interface Addresses {
  readonly dataFolder: string;
  readonly natsUrl: string;
  readonly modelUrl: string;
}

async function environment(
  options: TroupeOptions,
  { dataFolder, natsUrl, modelUrl }: Addresses,
): Promise<Record<string, string>> {
  const config = join(dataFolder, "troupe.yaml");
  if (options.config !== undefined) await writeFile(config, options.config);
  return {
    PATH: process.env.PATH ?? "",
    NATS_URL: natsUrl,
    OPENAI_BASE_URL: modelUrl,
    TROUPE_MODEL: "scripted",
    TROUPE_DATA: dataFolder,
    TROUPE_METRICS_PORT: "0",
    ...(options.config === undefined ? {} : { TROUPE_CONFIG: config }),
    ...options.env,
  };
}

function logsOf(services: readonly ServiceProcess[], since: LogMark = new Map()): string {
  return services
    .flatMap((service) => service.output.lines.slice(since.get(service) ?? 0).map((line) => `${service.name}: ${line}`))
    .join("\n");
}
