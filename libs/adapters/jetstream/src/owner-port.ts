import { setTimeout as delay } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";
import { ORIGINS, ownerSubject, STREAM } from "@troupe/contracts";
import type { Bell, OwnerPort } from "@troupe/kernel";
import { z } from "zod";
import { type Bus, wireOf } from "./bus.js";
import { ackInfo, DeliveredBell } from "./delivered-bell.js";
import { headersOf, textOf, type Wire } from "./wire.js";
import { WireError } from "./wire-error.js";

/**
 * Offers doorbells between processes (K7), by core request. The offer names the ack subject, so that
 * the owner itself keeps the bell alive and acks it.
 */
export interface OwnerDesk extends OwnerPort {
  /**
   * Receives offers for the activations of this process; `take` says whether the named owner still
   * lives and joins the bell to it. The result ends that.
   */
  serve(processId: string, take: (owner: string, bell: Bell) => boolean): Promise<() => Promise<void>>;
}

const OFFER = "Troupe-Bell";
const TAKEN = "taken";
const DECLINED = "declined";
/** An owner that is alive answers at once; behind this its bell is better rung again. */
const ANSWER_MS = 1_000;
/** A process that is just subscribing, or a route that is not yet known, is given this much. */
const RETRY_MS = 100;

const MAIL_STREAMS: readonly string[] = [STREAM.mail, STREAM.timers];

/** Everything but the text, which is the body of the request. */
const OfferedBell = z.object({
  owner: z.string(),
  key: z.string(),
  seq: z.number().int().positive(),
  origin: z.enum(ORIGINS),
  at: z.number(),
  redelivered: z.boolean(),
  // Publishing to it is all that the receiver does with it: it must not be anything but an ack.
  ack: z.string().refine((text) => MAIL_STREAMS.includes(ackInfo(text)?.stream ?? "")),
});

export function ownerPort(bus: Bus): OwnerDesk {
  const wire = wireOf(bus);
  return {
    offer: (owner, bell) => offerBell(wire, owner, bell),
    serve: (processId, take) => serveOffers(wire, processId, take),
  };
}

async function offerBell(wire: Wire, owner: string, bell: Bell): Promise<"taken" | "declined" | "silent"> {
  if (!(bell instanceof DeliveredBell)) throw new TypeError("only a delivered bell can be offered");
  const question = {
    subject: ownerSubject(processOf(owner)),
    payload: bell.item.text,
    headers: headersOf({ [OFFER]: JSON.stringify(offerOf(owner, bell)) }),
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      const taken = textOf(await wire.ask(question, ANSWER_MS)) === TAKEN;
      if (taken) bell.handOver();
      return taken ? "taken" : "declined";
    } catch (cause) {
      if (!(cause instanceof WireError)) throw cause;
      if (cause.kind === "too-large") return "declined";
      if (cause.kind !== "no-responders" && cause.kind !== "timeout") throw cause;
      if (cause.kind === "timeout" || attempt > 0) return "silent";
    }
    await delay(RETRY_MS);
  }
}

function offerOf(owner: string, bell: DeliveredBell): z.infer<typeof OfferedBell> {
  const { key, item, redelivered, ackSubject } = bell;
  return { owner, key, seq: item.seq, origin: item.origin, at: item.at, redelivered, ack: ackSubject };
}

/** An owner is `<process>-<number of its activation>`. */
function processOf(owner: string): string {
  const dash = owner.lastIndexOf("-");
  return dash < 0 ? owner : owner.slice(0, dash);
}

async function serveOffers(
  wire: Wire,
  processId: string,
  take: (owner: string, bell: Bell) => boolean,
): Promise<() => Promise<void>> {
  const subscription = wire.nc.subscribe(ownerSubject(processId), {
    callback: (error, message) => {
      if (error) return;
      const answer = answerTo(wire, message, take) ? TAKEN : DECLINED;
      if (message.reply !== undefined) wire.tell(message.reply, answer);
    },
  });
  // Whoever learns the process's name from a lease must find it listening.
  // Without a connection the subscription goes out with the next one.
  await wire.nc.flush().catch(() => undefined);
  return async () => {
    if (!subscription.isClosed()) await wire.end(subscription);
  };
}

function answerTo(wire: Wire, message: Msg, take: (owner: string, bell: Bell) => boolean): boolean {
  const offer = readOffer(message);
  if (offer === undefined) return false;
  const { owner, key, seq, origin, at, redelivered, ack } = offer;
  const item = { seq, origin, at, text: textOf(message) };
  try {
    return take(owner, new DeliveredBell(wire, { key, item, redelivered, ackSubject: ack }));
  } catch {
    // A throw would end the client's reader. Declined: the bell stays with who offered it.
    return false;
  }
}

function readOffer(message: Msg): z.infer<typeof OfferedBell> | undefined {
  try {
    const parsed = OfferedBell.safeParse(JSON.parse(message.headers?.get(OFFER) ?? ""));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
