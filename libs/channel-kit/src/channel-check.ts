import { CHANNELS, isChannel } from "@troupe/contracts";
import { StartError } from "@troupe/platform";
import type { Channel } from "./channel.js";

const RESEND: readonly string[] = ["harmless", "unsafe"] satisfies Channel["resend"][];

/**
 * A channel that could not work, for its author to see at once: no compiler has looked at one that is written in
 * JavaScript. Under a name that nobody knows messages would come in as another channel's, and no reply would go out.
 *
 * @throws StartError that says what to change
 */
export function checkChannel(channel: Channel): void {
  // Read as text: what is checked here may be anything.
  const { name, resend }: { readonly name: unknown; readonly resend: unknown } = channel;
  if (typeof name !== "string" || !isChannel(name)) {
    throw new StartError(
      `there is no channel named '${String(name)}', known are: ${CHANNELS.join(", ")}; ` +
        "a new name is added to CHANNELS in libs/contracts/src/session-id.ts",
    );
  }
  if (typeof resend !== "string" || !RESEND.includes(resend)) {
    throw new StartError(`channel ${name}: resend must be one of ${RESEND.join(", ")}`);
  }
  for (const part of ["listen", "send", "preview"] as const) {
    if (typeof channel[part] !== "function") throw new StartError(`channel ${name}: ${part} must be a function`);
  }
}
