import { connectBus, watchBells } from "@troupe/jetstream";
import type { Config } from "@troupe/platform";
import { broken, degraded, type Finding, well } from "./finding.js";

/** Asking once is enough where a server has just been found well. */
const CONNECT_MS = 1_000;
/** One process has some hundred in hand before it asks for no more. */
const MANY = 100;

const ADVICE = "start one: npx troupe start orchestrator; one that hangs is to be killed";

/**
 * Whether an orchestrator takes what people say.
 *
 * @throws Error with one line when NATS cannot be used
 */
export async function inspectOrchestrators({ creds, ...target }: Config["nats"]): Promise<Finding> {
  const credsFile = creds === undefined ? {} : { credsFile: creds };
  const bus = await connectBus({ target: { ...target, ...credsFile }, name: "doctor", waitMs: CONNECT_MS });
  try {
    const bells = await watchBells(bus);
    if (bells === undefined) return broken("none has ever run on this NATS server", ADVICE);
    const { served, inHand, waiting } = bells;
    if (served) return well(`takes messages, ${waiting} waiting`);
    // It may be so busy that it asks for nothing; what helps is the same.
    if (inHand >= MANY) return degraded(`none takes more messages, ${inHand} in hand, ${waiting} waiting`, ADVICE);
    return broken(`none takes messages, ${inHand + waiting} waiting`, ADVICE);
  } finally {
    await bus.close();
  }
}
