import { userInfo } from "node:os";
import { text as readAll } from "node:stream/consumers";
import { type Channel, parseSessionId } from "@troupe/contracts";
import { ConfigError } from "@troupe/platform";
import { Command, CommanderError } from "commander";
import { chat, type Stdio } from "./chat.js";
import { DEFAULT_HISTORY } from "./chat-command.js";
import { addressOptions, channel, positive, sessionId } from "./command-option.js";
import { addDeadCommand } from "./dead-command.js";
import { type AddressOptions, gatewayAddress } from "./gateway-address.js";
import { GatewayClient } from "./gateway-client.js";
import { GatewayFailure } from "./gateway-failure.js";
import { jsonText } from "./json-text.js";
import { once } from "./once.js";
import { sanitiseLine } from "./sanitise.js";
import { listSessions, sessionTable } from "./session-table.js";
import { UsageError } from "./usage-error.js";

const DEFAULT_LIMIT = 20;

interface ChatFlags extends AddressOptions {
  readonly session: string;
  readonly once?: true;
  readonly history: boolean;
}

interface SessionsFlags extends AddressOptions {
  readonly channel?: Channel;
  readonly limit: number;
  readonly json?: true;
}

/** Runs `troupe chat …`, `troupe sessions …` or `troupe dead …` and gives the exit code. */
export async function runCli(args: readonly string[], stdio: Stdio): Promise<number> {
  let code = 0;
  const program = new Command("troupe")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdio.stdout.write(text),
      writeErr: (text) => stdio.stderr.write(text),
    })
    .helpCommand(false);
  addressOptions(program.command("chat"))
    .description("talk to the agent in this terminal")
    .argument("[text...]", "the message, with --once; without it the message is read from stdin")
    .option("--session <id>", "the conversation", sessionId, defaultSession())
    .option("--once", "send one message, print the answer and exit")
    .option("--no-history", "do not show earlier messages")
    .action(async (words: string[], flags: ChatFlags) => {
      code = await runChat(words, flags, stdio);
    });
  addressOptions(program.command("sessions"))
    .description("list conversations, the newest first")
    .option("--channel <name>", "only those of one channel", channel)
    .option("--limit <n>", "how many at most", positive, DEFAULT_LIMIT)
    .option("--json", "print JSON")
    .action(async (flags: SessionsFlags) => runSessions(flags, stdio));
  addDeadCommand(program, stdio, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    return exitCode(error, stdio);
  }
}

async function runChat(words: string[], flags: ChatFlags, stdio: Stdio): Promise<number> {
  if (flags.once !== true && words.length > 0) throw new UsageError("a message on the command line needs --once");
  const { session } = flags;
  const client = new GatewayClient(await gatewayAddress(flags));
  if (flags.once !== true) return chat({ client, session, historyCount: flags.history ? DEFAULT_HISTORY : 0 }, stdio);
  const given = words.length > 0 ? words.join(" ") : await readAll(stdio.stdin);
  const text = given.replace(/\r?\n$/, "");
  if (text.trim() === "") throw new UsageError("--once needs a message: as words after it or on stdin");
  return once({ client, session, text }, stdio);
}

async function runSessions(flags: SessionsFlags, stdio: Stdio): Promise<void> {
  const client = new GatewayClient(await gatewayAddress(flags));
  const page = await listSessions(client, flags);
  stdio.stdout.write(`${flags.json === true ? jsonText(page) : sessionTable(page)}\n`);
}

/** One line for what a person can mend; a defect keeps its stack. */
function exitCode(error: unknown, { stderr }: Stdio): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    stderr.write(`${error.message}\n`);
    return 2;
  }
  if (error instanceof GatewayFailure) stderr.write(`${sanitiseLine(error.message)}\n`);
  else if (error instanceof ConfigError) stderr.write(`${error.message}\n`);
  else stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}

function defaultSession(): string {
  let name: string;
  try {
    name = userInfo().username;
  } catch {
    name = "me"; // A user id without an entry in the user database, as in some containers.
  }
  const id = parseSessionId(`http:${name}`);
  return id.ok ? id.text : "http:me";
}
