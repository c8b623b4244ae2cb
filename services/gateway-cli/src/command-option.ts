import { type Channel, CHANNELS, isChannel, parseSessionId } from "@troupe/contracts";
import { type Command, InvalidArgumentError } from "commander";

/** Adds the options that say where the gateway is; every command has them. */
export function addressOptions(command: Command): Command {
  return command
    .option("--url <url>", "the gateway's address (default: the local one)")
    .option("--token <token>", "the bearer token (default: TROUPE_TOKEN, else the local gateway's)");
}

/** @throws InvalidArgumentError, as all of these do, for what makes no sense: exit code 2 */
export function sessionId(text: string): string {
  const id = parseSessionId(text);
  if (!id.ok) throw new InvalidArgumentError(id.reason);
  return id.text;
}

export function channel(text: string): Channel {
  if (!isChannel(text)) throw new InvalidArgumentError(`expected one of: ${CHANNELS.join(", ")}`);
  return text;
}

export function positive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("expected a whole number above 0");
  return Number(text);
}
