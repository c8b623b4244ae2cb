import { type ModelFailure, verdictOf } from "./failure-verdict.js";
import type { RouterRules } from "./router-rules.js";

/**
 * What one call does next, from what came of it so far. Pure: the router does it.
 *
 * N1 No target is called during its provider's pause or its breaker's cool-down.
 * N2 The first target of the chain that can answer is asked; what is spent is not asked again.
 * N3 Tries, pauses and waiting are bounded, and nothing is waited for that ends after the deadline.
 * N4 A refused request is put to nobody else.
 * N5 The outcome is the failure that leaves most hope: "may pass" wins over "will not".
 */
export interface Progress {
  readonly tried: readonly Tried[];
  /** The back-off after the last failure is over. */
  readonly rested: boolean;
  readonly pausesMs: number;
  readonly coolDownsMs: number;
}

export interface Tried {
  /** Place in the chain. */
  readonly target: number;
  readonly failure: ModelFailure;
  /** The request was too long, and there is a shorter form of it. */
  readonly shrinks?: boolean;
}

/** A place in the chain, and what stands in its way at the moment. */
export interface TargetView {
  readonly provider: string;
  readonly pausedMs: number;
  /** The whole pause, of which `pausedMs` are left. */
  readonly pauseLengthMs: number;
  readonly coolDownMs: number;
  /** Another call finds out whether it works again. */
  readonly probing: boolean;
  /** What to say of it when it is not asked at all. */
  readonly blocked?: ModelFailure;
}

export interface Situation {
  readonly chain: readonly TargetView[];
  /** Until the turn's deadline. */
  readonly timeLeftMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** Derived work comes back after the turns. */
  readonly yields: boolean;
}

export type Attempt =
  | { readonly kind: "call"; readonly target: number }
  | {
      readonly kind: "wait";
      readonly for: "back-off" | "pause" | "cool-down";
      readonly target: number;
      readonly ms: number;
    };
export type Step = Attempt | { readonly kind: "giveUp"; readonly failure: ModelFailure };

export const NOTHING_TRIED: Progress = { tried: [], rested: true, pausesMs: 0, coolDownsMs: 0 };

export function nextStep(progress: Progress, situation: Situation, rules: RouterRules): Step {
  const { tried } = progress;
  const last = tried.at(-1);
  if (last !== undefined && !last.shrinks && verdictOf(last.failure) === "end") {
    // What another model could not do for the moment is not made final by this one's no.
    return giveUp(...tried.filter(({ target }) => target !== last.target).map(({ failure }) => failure), last.failure);
  }
  const open = last?.shrinks
    ? [last.target]
    : situation.chain.flatMap((_, target) => (isSpent(target, progress, situation, rules) ? [] : [target]));
  const steps = open.flatMap((target) => toward(target, progress, situation, rules) ?? []);
  const near = steps.find(({ target }) => isNear(situation.chain[target], progress, rules));
  // N2; where all have to be waited for, the one that is ready first.
  const step = near ?? steps.toSorted((a, b) => msOf(a) - msOf(b))[0];
  if (step !== undefined) return step;
  const blocked = open.flatMap((target) => situation.chain[target]?.blocked ?? []);
  return giveUp(...tried.map(({ failure }) => failure), ...blocked);
}

/** After what was waited for. */
export function afterWait(progress: Progress, { for: what, ms }: Extract<Step, { kind: "wait" }>): Progress {
  switch (what) {
    case "back-off":
      return { ...progress, rested: true };
    case "pause":
      return { ...progress, rested: true, pausesMs: progress.pausesMs + ms };
    case "cool-down":
      return { ...progress, rested: true, coolDownsMs: progress.coolDownsMs + ms };
  }
}

export function afterFailure(progress: Progress, tried: Tried): Progress {
  return { ...progress, tried: [...progress.tried, tried], rested: false };
}

function isSpent(target: number, { tried }: Progress, { chain }: Situation, { retry }: RouterRules): boolean {
  const provider = chain[target]?.provider;
  const own = tried.filter((one) => one.target === target).map((one) => one.failure);
  const count = (verdict: string): number => own.filter((failure) => verdictOf(failure) === verdict).length;
  const stalls = own.filter(({ code }) => code === "stalled").length;
  if (count("next-model") > 0 || stalls >= retry.stallsPerModel) return true;
  if (count("again") >= retry.triesPerModel || count("later") > retry.pausesPerModel) return true;
  const shared = tried.filter((one) => chain[one.target]?.provider === provider).map((one) => one.failure);
  // Who cannot be reached for one model cannot be reached for another.
  const unreached = shared.filter(({ code }) => code === "unreachable").length;
  return unreached >= retry.triesPerModel || shared.some((failure) => verdictOf(failure) === "next-provider");
}

/** Worth waiting for although another model may be free. */
function isNear(view: TargetView | undefined, { pausesMs }: Progress, { wait }: RouterRules): boolean {
  if (view === undefined || view.coolDownMs > 0 || view.probing) return false;
  return view.pausedMs <= 0 || pausesMs + view.pausedMs <= wait.shortPauseMs;
}

function msOf(step: Attempt): number {
  return step.kind === "call" ? 0 : step.ms;
}

/** The call, or the wait before it; undefined when it cannot be waited for (N3). */
function toward(target: number, progress: Progress, situation: Situation, rules: RouterRules): Attempt | undefined {
  const view = situation.chain[target];
  if (view === undefined) return undefined;
  const { timeLeftMs, random } = situation;
  const held = holdOf(view, situation, rules);
  if (held !== undefined) {
    const isPause = held.for === "pause";
    const waitedMs = isPause ? progress.pausesMs : progress.coolDownsMs;
    const budgetMs = isPause ? rules.wait.pausesMs : rules.wait.coolDownsMs;
    if (waitedMs + held.leastMs > budgetMs || held.ms >= timeLeftMs) return undefined;
    return { kind: "wait", for: held.for, target, ms: held.ms };
  }
  const ms = progress.rested ? 0 : Math.ceil(backOff(target, progress, rules) * random);
  if (ms === 0) return { kind: "call", target };
  return ms < timeLeftMs ? { kind: "wait", for: "back-off", target, ms } : undefined;
}

interface Hold {
  readonly for: "pause" | "cool-down";
  readonly leastMs: number;
  /** With the share that keeps a crowd from coming back at once. */
  readonly ms: number;
}

function holdOf(view: TargetView, { random, yields }: Situation, { wait }: RouterRules): Hold | undefined {
  if (view.pausedMs > 0) {
    const spreadMs = Math.min(wait.mostSpreadMs, Math.max(wait.leastSpreadMs, view.pauseLengthMs / 2));
    const shareMs = (yields ? 1 + random : random) * spreadMs;
    return { for: "pause", leastMs: view.pausedMs, ms: Math.ceil(view.pausedMs + shareMs) };
  }
  const leastMs = Math.max(view.coolDownMs, view.probing ? wait.probeLookMs : 0);
  if (leastMs <= 0) return undefined;
  return { for: "cool-down", leastMs, ms: Math.ceil(leastMs + random * wait.probeLookMs) };
}

/** Upper bound of the wait before this target is asked again, when it has just failed. */
function backOff(target: number, { tried }: Progress, { retry }: RouterRules): number {
  const last = tried.at(-1);
  if (last === undefined || last.target !== target || last.shrinks || verdictOf(last.failure) !== "again") return 0;
  const failures = tried.filter((one) => one.target === target && verdictOf(one.failure) === "again").length;
  return Math.min(retry.longestMs, retry.firstMs * 2 ** (failures - 1));
}

/** N5. A call that asked nobody says what stood in its way. */
function giveUp(...failures: readonly ModelFailure[]): Step {
  const failure = failures.findLast(({ retryable }) => retryable) ?? failures.at(-1);
  if (failure === undefined) throw new Error("a call was given up without a reason");
  return { kind: "giveUp", failure };
}
