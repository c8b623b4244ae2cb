import { rm } from "node:fs/promises";
import { join } from "node:path";
import { openDataFolder } from "./data-folder.js";
import { lockDataFolder } from "./data-lock.js";
import { withoutEmpty } from "./environment.js";
import { LocalInstallation } from "./local-installation.js";
import { projectRoot } from "./project-root.js";
import { Screen } from "./screen.js";
import { SERVICES, type ServiceEntry, serviceEntry } from "./service-table.js";
import { reasonOf } from "./start-failure.js";
import { StopSignals } from "./stop-signals.js";
import { TerminalChat } from "./terminal-chat.js";

export interface UpOptions {
  /** Every acknowledged write is on the disk before it is acknowledged. */
  readonly fsync?: boolean;
  /** Open the chat when this is a terminal. Default true. */
  readonly chat?: boolean;
  /** Main file of the chat, called with `chat`; by default the terminal gateway's. */
  readonly chatEntry?: string;
  /** What to run; by default all services that a start on one machine needs. */
  readonly services?: readonly ServiceEntry[];
}

/** All must be gone 10 s after the request; the rest is for the kernel and for npm. */
const STOP_LIMIT_MS = 9_000;
const CHAT_STOP_LIMIT_MS = 1_000;

/**
 * Starts NATS and all services as processes of their own, keeps them alive until asked to stop, and stops them.
 *
 * @returns the exit code: 0 after a stop that was asked for, 1 when something refused to start (said on stderr)
 */
export async function up(options: UpOptions = {}): Promise<number> {
  const env = withoutEmpty(process.env);
  const { services = SERVICES, chatEntry = serviceEntry("gateway-cli") } = options;
  const chats = options.chat !== false && process.stdin.isTTY === true && process.stdout.isTTY === true;
  let installation: LocalInstallation | undefined;
  const signals = new StopSignals(() => {
    installation?.killNow();
    process.exit(1);
  });
  // Whatever ends this process, an error of ours included, takes the services along.
  process.on("exit", () => installation?.killNow());
  let screen = new Screen();
  try {
    const dataFolder = await openDataFolder(env, projectRoot);
    const lock = await lockDataFolder(dataFolder);
    try {
      if (chats) screen = new Screen(join(dataFolder, "logs"));
      await forgetAddresses(dataFolder);
      installation = new LocalInstallation({
        dataFolder,
        env: { ...env, TROUPE_DATA: dataFolder },
        fsync: options.fsync === true,
        services,
        screen,
      });
      const started = installation.start();
      started.catch(() => undefined);
      const begun = await Promise.race([started, signals.requested.then(() => undefined)]);
      if (begun === undefined) return 0;
      // Not a notice: those are kept in a log file, and the address carries the token.
      process.stdout.write(`troupe: ready in ${Math.round(performance.now())} ms, console: ${begun.console}\n`);
      return await (chats ? chat(new TerminalChat(chatEntry, begun.env), screen, signals) : serve(signals));
    } finally {
      await installation?.stop(STOP_LIMIT_MS);
      await forgetAddresses(dataFolder).catch(() => undefined);
      await lock.release();
    }
  } catch (error) {
    process.stderr.write(`troupe: ${reasonOf(error)}\n`);
    return 1;
  } finally {
    await screen.flush();
    if (signals.reason === "SIGHUP" && process.stdin.isTTY) endByHangUp();
  }
}

/**
 * Ends this process by the signal itself. An ordinary exit sets the terminal back to how it was, and that terminal is
 * gone: Node takes the error for a defect of its own and dumps core.
 */
function endByHangUp(): void {
  process.removeAllListeners("SIGHUP");
  process.kill(process.pid, "SIGHUP");
}

/**
 * Addresses at which nobody answers any more: that of a model would keep later processes from saying that none is
 * configured, that of a gateway would send them to the wrong port.
 */
async function forgetAddresses(dataFolder: string): Promise<void> {
  for (const name of ["offline-model.json", "gateway.json"]) await rm(join(dataFolder, name), { force: true });
}

async function serve(signals: StopSignals): Promise<number> {
  process.stdout.write("troupe: Ctrl-C stops everything\n");
  const reason = await signals.requested;
  process.stdout.write(`troupe: stopping (${reason})\n`);
  return 0;
}

async function chat(chat: TerminalChat, screen: Screen, signals: StopSignals): Promise<number> {
  signals.ignoreInterrupt = true;
  screen.chatOpens();
  const code = await Promise.race([chat.ended, signals.requested.then(() => undefined)]);
  if (code === undefined) await chat.stop(CHAT_STOP_LIMIT_MS);
  signals.ignoreInterrupt = false;
  screen.chatIsOver();
  process.stdout.write("troupe: stopping\n");
  return code ?? 0;
}
