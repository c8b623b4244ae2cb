import { randomUUID } from "node:crypto";
import { delay } from "@troupe/platform";
import { deferred } from "./deferred.js";
import { openEventFeed } from "./event-feed.js";
import { approvalText, reasonWithoutAnswer, taskText, toolText } from "./event-text.js";
import type { Accepted, FinalAnswer } from "./gateway-answer.js";
import type { GatewayClient } from "./gateway-client.js";
import type { GatewayEvent } from "./gateway-event.js";
import { persist } from "./persistence.js";
import { sanitise, sanitiseLine } from "./sanitise.js";
import { watchSignals } from "./signal-watch.js";

const WAIT_MS = 60_000;
const LEAST_ROUND_MS = 500;
const SEND_FOR_MS = 120_000;
const CANCEL_WITHIN_MS = 5_000;
const INTERRUPTED = 130;

export interface OnceOptions {
  readonly client: GatewayClient;
  readonly session: string;
  readonly text: string;
}

interface Output {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/**
 * One message, one answer: the final text on stdout, everything else on stderr.
 *
 * @returns 0 for an answer, 1 for an error or a cancelled turn, 130 after Ctrl-C
 * @throws GatewayFailure when the gateway cannot be reached or refuses
 */
export async function once({ client, session, text }: OnceOptions, { stdout, stderr }: Output): Promise<number> {
  const interrupted = new AbortController();
  const finals = new Finals();
  const say = (line: string): void => void stderr.write(`${sanitiseLine(line)}\n`);
  const feed = await openEventFeed(client, session, {
    event: (event) => {
      if (event.kind === "final") finals.add(event.data);
      const line = progressText(event);
      if (line !== undefined) say(line);
    },
    lost: (reason) => say(`connection lost, connecting again … (${reason})`),
    back: () => undefined,
    refused: (failure) => say(`no progress is shown: ${failure.message}`),
  });
  const unwatch = watchSignals(["SIGINT"], () => {
    if (interrupted.signal.aborted) process.exit(INTERRUPTED);
    interrupted.abort(new Error("interrupted"));
  });
  try {
    const own = await answerTo({ client, session, text, say, signal: interrupted.signal });
    const final = own.mergedInto === null ? own : await finals.of(own.mergedInto, interrupted.signal);
    const reason = reasonWithoutAnswer(final);
    if (reason === undefined) stdout.write(`${sanitise(final.text)}\n`);
    else say(reason);
    return reason === undefined ? 0 : 1;
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    // The person may not want to wait for a gateway that is gone.
    await client.cancel(session, AbortSignal.timeout(CANCEL_WITHIN_MS)).catch(() => undefined);
    say("cancelled");
    return INTERRUPTED;
  } finally {
    unwatch();
    feed.close();
  }
}

interface Question extends OnceOptions {
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Sends the message, and asks again under the same id, until its final is there: that survives any lost connection. */
async function answerTo({ client, session, text, say, signal }: Question): Promise<FinalAnswer> {
  const message = { id: randomUUID(), text };
  const told = new Set<string>();
  for (;;) {
    const leastRound = delay(LEAST_ROUND_MS, signal);
    leastRound.catch(() => undefined);
    const accepted = await persist(() => client.send(session, message, { waitMs: WAIT_MS, signal }), {
      signal,
      forMs: SEND_FOR_MS,
      onRetry: (failure) => say(`trying again … (${failure.message})`),
    });
    if (accepted.final !== null) return accepted.final;
    for (const line of waitingTexts(accepted)) {
      if (!told.has(line)) say(line);
      told.add(line);
    }
    // A gateway that does not hold the answer back must not be asked in a tight loop.
    await leastRound.catch(() => signal.throwIfAborted());
  }
}

function waitingTexts({ waitingFor }: Accepted): string[] {
  const people = waitingFor.filter(({ kind }) => kind === "approval" || kind === "person");
  return people.map(({ kind, id }) => `waiting for ${kind === "approval" ? "an approval" : "a person"} ${id ?? ""}`);
}

function progressText(event: GatewayEvent): string | undefined {
  switch (event.kind) {
    case "notice":
      return event.data.text;
    case "tool":
      return toolText(event.data);
    case "task":
      return taskText(event.data);
    case "approval":
      return approvalText(event.data);
    case "delta":
    case "reset":
    case "final":
      return undefined;
  }
}

/** The finals that events brought, for a message whose answer is another turn's. */
class Finals {
  readonly #finals = new Map<string, FinalAnswer>();
  #changed = deferred<void>();

  add(final: FinalAnswer): void {
    this.#finals.set(final.turn, final);
    this.#changed.resolve();
    this.#changed = deferred();
  }

  async of(turn: string, signal: AbortSignal): Promise<FinalAnswer> {
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("interrupted")), { once: true });
    });
    for (;;) {
      const final = this.#finals.get(turn);
      if (final !== undefined) return final;
      await Promise.race([this.#changed.promise, aborted]);
    }
  }
}
