import { setImmediate as turnOfLoop } from "node:timers/promises";
import type { SessionKey } from "@troupe/contracts";
import type { DeliveryLedger } from "@troupe/jetstream";
import { type AttemptEnd, type Channel, Delivery, type Reply, type SendOutcome } from "../src/index.js";
import { MemoryLedger } from "./memory-ledger.js";

export interface World {
  readonly resend: Channel["resend"];
  /** Whether the outside shows a reply once however often it is sent; by default as the channel says. */
  readonly dedups?: boolean;
  /**
   * Nobody dies or hangs, and every send says what became of it: one process after the other works for a while, with
   * a ledger that fails now and then, closes its delivery and leaves the rest to the next.
   */
  readonly handsOver?: boolean;
  /** Wraps the ledger, to plant a fault. */
  readonly ledger?: (ledger: DeliveryLedger) => DeliveryLedger;
}

export interface SimulationEnd {
  readonly shown: number;
  readonly sends: number;
  readonly status: string | undefined;
  readonly faults: number;
}

/** A call of a port, on its way. */
interface Call {
  readonly process: number;
  /** What it does to the world. */
  readonly effect: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Fault = "works" | "fails" | "fails after" | "dies" | "dies after";

function faultOf(draw: number, { handsOver = false }: World): Fault {
  if (handsOver) return draw < 0.15 ? "fails" : draw < 0.3 ? "fails after" : "works";
  if (draw < 0.16) return draw < 0.08 ? "dies" : "dies after";
  return draw < 0.22 ? "fails" : draw < 0.28 ? "fails after" : "works";
}

const PROCESSES = 3;
const STEPS = 60;

/**
 * One reply, several processes that all hold themselves for the one that delivers it, and at each call of ledger or
 * outside: it works, it fails before or after it worked, its process dies, or it hangs while others go on. At the end
 * one more process works undisturbed, and then those that hung go on.
 */
export async function simulate(seed: number, world: World): Promise<SimulationEnd> {
  const random = randomOf(seed);
  const calls: Call[] = [];
  const dead = new Set<number>();
  const ledger = new MemoryLedger();
  const shown: string[] = [];
  let isRefused = false;
  let sends = 0;
  let faults = 0;

  const call = <T>(process: number, effect: () => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      calls.push({ process, effect, resolve: (value) => resolve(value as T), reject });
    });
  const show = async ({ id }: Reply): Promise<SendOutcome> => {
    sends += 1;
    const known = (world.dedups ?? world.resend === "harmless") && shown.includes(id);
    const draw = random();
    if (draw < 0.15) return { kind: "not-sent", reason: "busy" };
    // What the outside has refused it refuses for good, and what it shows it does not refuse.
    isRefused ||= draw < 0.2 && shown.length === 0;
    if (isRefused) return { kind: "rejected", reason: "refused" };
    if (world.handsOver === true) {
      shown.push(id);
      return { kind: "delivered" };
    }
    if (draw < 0.3) return { kind: "unknown", reason: "lost on the way there" };
    if (!known) shown.push(id);
    if (draw < 0.4) return { kind: "unknown", reason: "lost on the way back" };
    if (draw < 0.45) throw new Error("the connection broke");
    return { kind: "delivered" };
  };
  const portsOf = (process: number) => {
    const throughCalls: DeliveryLedger = {
      read: (place) => call(process, () => ledger.read(place)),
      write: (place, text, revision) => call(process, () => ledger.write(place, text, revision)),
      remove: (place) => call(process, () => ledger.remove(place)),
    };
    const send = (reply: Reply) => (world.handsOver === true ? show(reply) : call(process, () => show(reply)));
    return {
      ledger: world.ledger?.(throughCalls) ?? throughCalls,
      channel: { resend: world.resend, send },
      now: () => 0,
      hurry: new AbortController().signal,
      isWanted: async () => true,
      maxAttempts: 50,
      sendLimitMs: 600_000,
    };
  };
  const deliver = async (process: number): Promise<AttemptEnd> => {
    const key = "webhook.a" as SessionKey;
    const reply = {
      id: "r_1",
      session: "webhook:a",
      conversation: "a",
      turn: "t_1",
      kind: "answer",
      text: "x",
    } as const;
    const place = { key, id: reply.id };
    const delivery = new Delivery(portsOf(process), { place, seq: 1, reply, sender: `p${process}` });
    for (;;) {
      const isLast = process === PROCESSES || world.handsOver !== true;
      const end = await delivery.attempt(() => isLast || random() < 0.7).catch(() => null);
      if (end !== null && end.kind !== "again" && end.kind !== "left") return end;
      if (isLast || random() < 0.7) continue;
      for (let closed = false; !closed; ) {
        closed = await delivery.close().then(
          () => true,
          () => false,
        );
      }
      return { kind: "left" };
    }
  };
  const carryOut = async (one: Call, how: Fault): Promise<void> => {
    if (how !== "works") faults += 1;
    if (how === "fails" || how === "dies") {
      if (how === "fails") one.reject(new Error("failed"));
    } else {
      const done = await one.effect().then(
        (value) => () => one.resolve(value),
        (error: Error) => () => one.reject(error),
      );
      if (how === "works") done();
      else if (how === "fails after") one.reject(new Error("failed after it worked"));
    }
    if (how.startsWith("dies")) dead.add(one.process);
  };
  const step = async (pick: (among: readonly Call[]) => Call | undefined, faulty: boolean): Promise<boolean> => {
    await turnOfLoop();
    const one = pick(calls.filter(({ process }) => !dead.has(process)));
    if (one === undefined) return false;
    calls.splice(calls.indexOf(one), 1);
    const draw = faulty ? random() : 1;
    await carryOut(one, faultOf(draw, world));
    return true;
  };
  const anyOf = (among: readonly Call[]): Call | undefined => among[Math.floor(random() * among.length)];

  let started = 0;
  while (world.handsOver === true && started < PROCESSES) {
    let isOver = false;
    void deliver(started++).then(() => {
      isOver = true;
    });
    while ((await step(anyOf, true)) || !isOver);
  }
  for (let n = 0; n < STEPS; n += 1) {
    if (started < PROCESSES && random() < 0.15) void deliver(started++);
    await step(anyOf, true);
  }
  void deliver(PROCESSES);
  while (await step((among) => among.find(({ process }) => process === PROCESSES), false));
  while (await step(anyOf, false));
  return { shown: shown.length, sends, status: ledger.records()[0]?.status, faults };
}
