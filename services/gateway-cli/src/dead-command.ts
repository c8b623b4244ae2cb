import { DEAD_KINDS, type DeadKind } from "@troupe/contracts";
import { type Command, InvalidArgumentError } from "commander";
import type { Stdio } from "./chat.js";
import { addressOptions, positive, sessionId } from "./command-option.js";
import { deadTable, deadText, listDead, retriedText } from "./dead-table.js";
import { type AddressOptions, gatewayAddress } from "./gateway-address.js";
import { GatewayClient } from "./gateway-client.js";
import { GatewayFailure } from "./gateway-failure.js";
import { jsonText } from "./json-text.js";
import { sanitiseLine } from "./sanitise.js";

const DEFAULT_LIMIT = 20;

interface ShowFlags extends AddressOptions {
  readonly json?: true;
}

interface ListFlags extends ShowFlags {
  readonly kind?: DeadKind;
  readonly session?: string;
  readonly limit: number;
}

/** Adds `troupe dead …`: looking through what was given up on, sending it again, dropping it. */
export function addDeadCommand(program: Command, stdio: Stdio, end: (code: number) => void): void {
  const dead = program.command("dead").description("what was given up on").helpCommand(false);
  const write = (text: string): void => void stdio.stdout.write(`${text}\n`);

  addressOptions(dead.command("list"))
    .description("list dead letters, the newest first")
    .option("--kind <kind>", `only those of one kind: ${DEAD_KINDS.join(", ")}`, deadKind)
    .option("--session <id>", "only those of one conversation", sessionId)
    .option("--limit <n>", "how many at most", positive, DEFAULT_LIMIT)
    .option("--json", "print JSON")
    .action(async (flags: ListFlags) => {
      const page = await listDead(await clientOf(flags), flags);
      write(flags.json === true ? jsonText(page) : deadTable(page, stdio.stdout.columns || undefined));
    });

  addressOptions(dead.command("show"))
    .description("show all of one, its body included")
    .argument("<id>", "its id", letterId)
    .option("--json", "print JSON")
    .action(async (id: string, flags: ShowFlags) => {
      const letter = await (await clientOf(flags)).deadLetter(id);
      write(flags.json === true ? jsonText(letter) : deadText(letter));
    });

  addressOptions(dead.command("retry"))
    .description("send them again, as if they had just come in, and remove them from the list")
    .argument("<id...>", "their ids", letterIds)
    .action(async (ids: string[], flags: AddressOptions) => {
      const client = await clientOf(flags);
      end(await forEach(ids, stdio, async (id) => write(retriedText(id, await client.retryLetter(id)))));
    });

  addressOptions(dead.command("drop"))
    .description("remove them for good")
    .argument("<id...>", "their ids", letterIds)
    .action(async (ids: string[], flags: AddressOptions) => {
      const client = await clientOf(flags);
      const drop = async (id: string): Promise<void> => {
        await client.dropLetter(id);
        write(`${id}: dropped`);
      };
      end(await forEach(ids, stdio, drop));
    });
}

async function clientOf(flags: AddressOptions): Promise<GatewayClient> {
  return new GatewayClient(await gatewayAddress(flags));
}

/** What the gateway refuses for one letter, it may well do for the next. */
const GOES_ON = new Set([404, 409, 413, 503]);

/**
 * One after the other; what was refused is told, and the others are done all the same.
 *
 * @returns the exit code
 * @throws GatewayFailure when the next one would fare no better
 */
async function forEach(
  ids: readonly string[],
  { stderr }: Stdio,
  work: (id: string) => Promise<void>,
): Promise<number> {
  let code = 0;
  for (const id of new Set(ids)) {
    try {
      await work(id);
    } catch (error) {
      if (!(error instanceof GatewayFailure && GOES_ON.has(error.status ?? 0))) throw error;
      stderr.write(`${sanitiseLine(`${id}: ${error.message}`)}\n`);
      code = 1;
    }
  }
  return code;
}

function deadKind(text: string): DeadKind {
  const kind = DEAD_KINDS.find((one) => one === text);
  if (kind === undefined) throw new InvalidArgumentError(`expected one of: ${DEAD_KINDS.join(", ")}`);
  return kind;
}

function letterId(text: string): string {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError("expected an id as `troupe dead list` shows it");
  return text;
}

/** Commander calls this once for each argument. */
function letterIds(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), letterId(text)];
}
