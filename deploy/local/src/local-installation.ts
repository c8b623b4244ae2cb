import { join } from "node:path";
import { LocalNats } from "./local-nats.js";
import { probeNats } from "./nats-probe.js";
import { findServerBinary } from "./nats-server/find-server.js";
import { isNewEnough, NEEDED_VERSION } from "./nats-server/server-version.js";
import { ProcessFleet } from "./process-fleet.js";
import { projectRoot } from "./project-root.js";
import type { Screen } from "./screen.js";
import { writeSecretFile } from "./secret-file.js";
import type { ServiceEntry } from "./service-table.js";
import { StartFailure } from "./start-failure.js";
import { type Ready, SupervisedProcess } from "./supervised-process.js";
import { readUpSettings, type UpSettings } from "./up-settings.js";

export interface LocalInstallationOptions {
  readonly dataFolder: string;
  /** For every child; empty variables have been taken out, `TROUPE_DATA` is set. */
  readonly env: NodeJS.ProcessEnv;
  readonly fsync: boolean;
  readonly services: readonly ServiceEntry[];
  readonly screen: Screen;
}

/** What a start has led to. */
export interface Started {
  /** Address of the console; it carries the token. */
  readonly console: string;
  /** Environment for further processes of this installation. */
  readonly env: NodeJS.ProcessEnv;
}

/** NATS and the services of one machine, as processes below this one. */
export class LocalInstallation {
  readonly #options: LocalInstallationOptions;
  readonly #fleet = new ProcessFleet();
  readonly #env: NodeJS.ProcessEnv;

  constructor(options: LocalInstallationOptions) {
    this.#options = options;
    // Logs are made readable here, whatever form was asked for.
    this.#env = { ...options.env, TROUPE_PARENT_WATCH: "1", TROUPE_LOG: "json" };
  }

  /**
   * Resolves when all services are ready.
   *
   * @throws StartFailure with the first reason; what runs by then has to be stopped by the caller
   */
  async start(): Promise<Started> {
    const [settings] = await Promise.all([readUpSettings(this.#options.env), this.#startNats()]);
    const services = this.#options.services.filter(
      ({ offlineModel }) => offlineModel !== true || settings.offlineModel,
    );
    const readies = await Promise.all(services.map((service) => this.#startService(service)));
    const url = readies.find((_, index) => services[index]?.console === true)?.url;
    const address = new URL(url ?? addressOf(settings));
    // For commands in other terminals, which do not have this one's environment.
    await writeSecretFile(
      join(this.#options.dataFolder, "gateway.json"),
      `${JSON.stringify({ url: address.origin })}\n`,
    );
    return {
      console: `${address.origin}/?token=${encodeURIComponent(settings.token)}`,
      // With port 0 only the gateway knows where it is.
      env: { ...this.#options.env, TROUPE_HTTP_PORT: address.port || "80" },
    };
  }

  stop(limitMs: number): Promise<void> {
    return this.#fleet.stop(limitMs);
  }

  killNow(): void {
    this.#fleet.killNow();
  }

  async #startNats(): Promise<void> {
    const { dataFolder, env, fsync, screen } = this.#options;
    if (env.NATS_URL !== undefined) {
      const hosts = await checkGivenNats(env.NATS_URL);
      screen.notice(`NATS ${hosts}, given by NATS_URL`);
      return;
    }
    const found = await findServerBinary({
      root: projectRoot,
      env,
      say: (line) => screen.notice(line),
    });
    if (found.kind === "none") throw new StartFailure(found.reason);
    const nats = new LocalNats({ dataFolder, binary: found.path, env, fsync, listener: screen });
    const { url } = await this.#fleet.run(nats.process, () => nats.start());
    screen.notice(`NATS ${found.version} on ${new URL(url).host}`);
  }

  async #startService(service: ServiceEntry): Promise<Ready> {
    const { screen, dataFolder } = this.#options;
    let port = "0";
    const process_ = new SupervisedProcess(
      {
        name: service.name,
        command: process.execPath,
        args: () => [
          service.entry,
          ...(service.args ?? []),
          ...(service.offlineModel === true ? ["--port", port] : []),
        ],
        env: { ...this.#env, ...metricsPort(this.#env, this.#options.services.indexOf(service)) },
        ready: "ipc",
      },
      screen,
    );
    return this.#fleet.start(process_, service.needs, async (ready) => {
      screen.notice(`${service.name} is ready${ready.url === undefined ? "" : ` on ${ready.url}`}`);
      if (service.offlineModel !== true) return;
      if (ready.url === undefined) throw new StartFailure(`${service.name}: did not say where it listens`);
      // The orchestrator reads the address once, so it must outlive a restart.
      port = new URL(ready.url).port;
      await writeSecretFile(join(dataFolder, "offline-model.json"), `${JSON.stringify({ url: ready.url })}\n`);
      screen.notice("no model server is configured, the offline model answers; OPENAI_API_KEY names a real one");
    });
  }
}

/** One port cannot serve all, so each service gets the next one, by its place in the table. */
function metricsPort({ TROUPE_METRICS_PORT: first }: NodeJS.ProcessEnv, place: number): NodeJS.ProcessEnv {
  const isNumber = first !== undefined && /^\d+$/.test(first) && Number(first) > 0;
  return isNumber ? { TROUPE_METRICS_PORT: String(Number(first) + place) } : {};
}

async function checkGivenNats(urls: string): Promise<string> {
  let info: Awaited<ReturnType<typeof probeNats>>;
  try {
    info = await probeNats(urls);
  } catch (error) {
    throw new StartFailure(error instanceof Error ? error.message : String(error));
  }
  if (!isNewEnough(info.version))
    throw new StartFailure(`NATS: version ${info.version} found, ${NEEDED_VERSION} needed`);
  if (!info.jetstream) throw new StartFailure("NATS: JetStream is off on the server that NATS_URL names");
  return info.version;
}

/** A gateway that listens everywhere is reached here through loopback. */
function addressOf({ host, port }: UpSettings): string {
  const own = host === "0.0.0.0" || host === "::" || host === "" ? "127.0.0.1" : host;
  return `http://${own.includes(":") ? `[${own}]` : own}:${port}`;
}
