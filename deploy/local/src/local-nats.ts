import { createServer } from "node:net";
import { join } from "node:path";
import { type NatsAccess, newNatsAccess, portOf, readNatsAccess, urlOfPort, writeNatsAccess } from "./nats-access.js";
import { natsConfig } from "./nats-config.js";
import { projectRoot } from "./project-root.js";
import { writeSecretFile } from "./secret-file.js";
import { StartFailure } from "./start-failure.js";
import { type ProcessListener, SupervisedProcess } from "./supervised-process.js";

export interface LocalNatsOptions {
  readonly dataFolder: string;
  readonly binary: string;
  readonly env: NodeJS.ProcessEnv;
  readonly fsync: boolean;
  readonly listener: ProcessListener;
}

/**
 * A NATS server of our own, on loopback. It keeps its port and password: at its restarts always, because the services
 * go on with the address that they have, and at the next start if nobody took the port meanwhile, because people have
 * it in their terminals.
 */
export class LocalNats {
  readonly process: SupervisedProcess;
  readonly #options: LocalNatsOptions;
  #port: number | undefined;

  constructor(options: LocalNatsOptions) {
    this.#options = options;
    const { binary, env, listener } = options;
    const guard = join(projectRoot, "deploy/local/nats-guard.sh");
    this.process = new SupervisedProcess(
      {
        name: "nats-server",
        command: "sh",
        args: () => [guard, binary, "-c", this.#configFile],
        env,
        ready: /\[INF\] Server is ready$/,
      },
      {
        line: (name, text) => {
          const port = /\[INF\] Listening for client connections on \S*:(\d+)$/.exec(text)?.[1];
          if (port !== undefined) this.#port = Number(port);
          listener.line(name, text);
        },
        notice: (text) => listener.notice(text),
      },
    );
  }

  /**
   * Starts the server and leaves `nats.json` for whoever wants to reach it.
   *
   * @throws StartFailure with the server's own reason
   */
  async start(): Promise<NatsAccess> {
    const { dataFolder } = this.#options;
    const known = (await readNatsAccess(dataFolder)) ?? newNatsAccess();
    const wanted = portOf(known);
    const kept = wanted !== undefined && (await isFree(wanted)) ? wanted : undefined;
    await this.#writeConfig(known, kept ?? -1);
    await this.process.start();
    if (this.#port === undefined) throw new StartFailure("nats-server: did not say which port it listens on");
    const access = { ...known, url: urlOfPort(this.#port) };
    if (this.#port !== kept) await this.#writeConfig(access, this.#port);
    await writeNatsAccess(dataFolder, access);
    return access;
  }

  get #configFile(): string {
    return join(this.#options.dataFolder, "nats-server.conf");
  }

  async #writeConfig({ user, pass }: NatsAccess, port: number): Promise<void> {
    const { dataFolder, fsync } = this.#options;
    await writeSecretFile(this.#configFile, natsConfig({ dataFolder, port, user, pass, fsync }));
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
