import type { ModelClient, ModelOutcome, ModelRequest } from "@troupe/contracts";
import type { ProviderPause, ProviderPauses } from "@troupe/jetstream";
import type { Logger } from "@troupe/platform";
import { CircuitBreaker, type Pass } from "./circuit-breaker.js";
import { isBreakage, type ModelFailure, pauseOf } from "./failure-verdict.js";
import type { ModelMetrics } from "./model-metrics.js";
import { afterFailure, afterWait, NOTHING_TRIED, nextStep, type Situation, type Step } from "./next-step.js";
import type { RouterRules } from "./router-rules.js";
import { ShownText } from "./shown-text.js";

/** What a model is asked for: each role has a chain of models. */
export type ModelRole = "answer" | "consolidation";

export interface ModelTarget {
  readonly provider: string;
  readonly model: string;
}

/** A model server. */
export interface ModelProvider {
  readonly client: ModelClient;
  /** What all processes call this server when they share its pauses. */
  readonly identity: string;
}

export interface RouterClock {
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** Resolves after that time, or as soon as the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
}

export interface RouterBase {
  readonly providers: ReadonlyMap<string, ModelProvider>;
  readonly chains: Readonly<Record<ModelRole, readonly ModelTarget[]>>;
  readonly pauses: Pick<ProviderPauses, "of" | "pause">;
  readonly rules: RouterRules;
  readonly clock: RouterClock;
  readonly log: Logger;
  readonly metrics: ModelMetrics;
}

/** The form in which a model wants the request. */
export interface RequestForm {
  readonly model: string;
  /** The share of the usual window that may be shown: 1, or ½ after the model found the request too long. */
  readonly windowShare: number;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Until the turn's deadline; without it the rules' own limits hold. */
  readonly timeLeftMs?: number;
  /** Text of the present try, in pieces. */
  readonly onText: (text: string) => void;
  /** The text so far is void: the same model begins again (`recovered`), or another one (`fallback`). */
  readonly onReset: (reason: "recovered" | "fallback") => void;
  /** For log lines, such as the turn. */
  readonly about?: Readonly<Record<string, string>>;
}

interface Seat extends ModelTarget, ModelProvider {
  readonly breaker: CircuitBreaker<ModelFailure>;
}

/** What may be shown of the usual window when a model found the request too long. */
const SHRUNK = 0.5;

/** Gets a model's answer from whichever model can give it; `next-step` decides, this carries it out. */
export class ModelRouter {
  readonly #base: RouterBase;
  readonly #seats: Readonly<Record<ModelRole, readonly Seat[]>>;

  constructor(base: RouterBase) {
    this.#base = base;
    const seats = new Map<string, Seat>();
    const seatOf = (target: ModelTarget): Seat => {
      const name = `${target.provider}/${target.model}`;
      const seat = seats.get(name) ?? this.#newSeat(target);
      seats.set(name, seat);
      return seat;
    };
    const { answer, consolidation } = base.chains;
    // A model that is named twice is asked once.
    this.#seats = {
      answer: [...new Set(answer.map(seatOf))],
      consolidation: [...new Set(consolidation.map(seatOf))],
    };
  }

  /** Resolves with the answer, or with the failure that the call ends in; rejects only with what `build` throws. */
  async complete(
    role: ModelRole,
    build: (form: RequestForm) => ModelRequest,
    options: CallOptions,
  ): Promise<ModelOutcome> {
    const { clock, rules } = this.#base;
    const seats = this.#seats[role];
    const deadline = clock.now() + (options.timeLeftMs ?? Number.POSITIVE_INFINITY);
    const shown = new ShownText(options);
    let progress = NOTHING_TRIED;
    let windowShare = 1;
    while (!options.signal.aborted) {
      const step = nextStep(progress, this.#situation(role, deadline - clock.now()), rules);
      if (step.kind === "giveUp") return step.failure;
      if (step.kind === "wait") {
        this.#logWait(step, seats, options);
        await clock.sleep(step.ms, options.signal);
        progress = afterWait(progress, step);
        continue;
      }
      const seat = seatAt(seats, step.target);
      const request = build({ model: seat.model, windowShare });
      const outcome = await this.#call(seat, request, shown, options);
      if (outcome.kind !== "failed") return outcome;
      const shrinks = windowShare === 1 && outcome.code === "context_too_long" && isLonger(request, build);
      if (shrinks) windowShare = SHRUNK;
      progress = afterFailure(progress, { target: step.target, failure: outcome, shrinks });
    }
    return { kind: "aborted" };
  }

  async #call(
    seat: Seat,
    request: ModelRequest,
    shown: ShownText,
    { signal, about }: CallOptions,
  ): Promise<ModelOutcome> {
    const { metrics, log } = this.#base;
    const { provider, model, breaker } = seat;
    const pass = breaker.enter();
    shown.begin(seat);
    const outcome = await seat.client.complete(request, {
      signal,
      onText: (text) => {
        breaker.alive(pass);
        shown.add(text);
      },
    });
    const result = outcome.kind === "failed" ? outcome.code : outcome.kind;
    metrics.calls.inc({ provider, model, outcome: result });
    if (outcome.kind === "failed") {
      const { code, detail } = outcome;
      log.warn({ ...about, provider, model, code }, `model call failed: ${detail}`);
      this.#learn(seat, pass, outcome);
    } else if (outcome.kind === "answer") breaker.succeeded(pass);
    else breaker.left(pass);
    return outcome;
  }

  #learn(seat: Seat, pass: Pass, failure: ModelFailure): void {
    if (isBreakage(failure)) seat.breaker.failed(pass, failure);
    else seat.breaker.succeeded(pass);
    const pauseMs = pauseOf(failure);
    // Not waited for: it holds here at once.
    if (pauseMs !== undefined) void this.#base.pauses.pause(seat.identity, pauseMs, failure.code);
  }

  #situation(role: ModelRole, timeLeftMs: number): Situation {
    return {
      chain: this.#seats[role].map((seat) => {
        const pause = this.#base.pauses.of(seat.identity);
        const { leftMs, probing } = seat.breaker.hold;
        const blocked = pause === undefined ? seat.breaker.last : pausedFailure(seat, pause);
        return {
          provider: seat.provider,
          pausedMs: pause?.leftMs ?? 0,
          pauseLengthMs: pause?.lengthMs ?? 0,
          coolDownMs: leftMs,
          probing,
          ...(blocked === undefined ? {} : { blocked }),
        };
      }),
      timeLeftMs,
      random: this.#base.clock.random(),
      yields: role !== "answer",
    };
  }

  #logWait(step: Extract<Step, { kind: "wait" }>, seats: readonly Seat[], { about }: CallOptions): void {
    const { provider, model } = seatAt(seats, step.target);
    const fields = { ...about, provider, model, waitMs: step.ms };
    this.#base.log.debug(fields, `waiting: ${step.for}`);
  }

  #newSeat(target: ModelTarget): Seat {
    const { providers, rules, clock, log, metrics } = this.#base;
    const found = providers.get(target.provider);
    if (found === undefined) throw new Error(`no provider ${target.provider}`);
    metrics.breaker(target, "closed");
    const breaker = new CircuitBreaker<ModelFailure>({
      rules: rules.breaker,
      now: clock.now,
      random: clock.random,
      onChange: (state, last) => {
        metrics.breaker(target, state);
        if (state === "open") log.warn({ ...target, code: last?.code }, "the model is left alone for a while");
        else if (state === "half-open") log.info({ ...target }, "one call finds out whether the model works again");
        else log.info({ ...target }, "the model works again");
      },
    });
    return { ...target, ...found, breaker };
  }
}

function seatAt(seats: readonly Seat[], place: number): Seat {
  const seat = seats[place];
  if (seat === undefined) throw new Error(`no model at place ${place} of ${seats.length}`);
  return seat;
}

/** Whether half of the window makes it shorter; the last message alone may be what is too long. */
function isLonger(request: ModelRequest, build: (form: RequestForm) => ModelRequest): boolean {
  const half = build({ model: request.model, windowShare: SHRUNK });
  return half.messages.length < request.messages.length;
}

function pausedFailure({ provider }: ModelTarget, { leftMs, code }: ProviderPause): ModelFailure {
  const known = code === "overloaded" || code === "server_error" ? code : "rate_limited";
  const detail = `${provider} wants to be left alone for another ${Math.ceil(leftMs)} ms`;
  return { kind: "failed", code: known, retryable: true, retryAfterMs: Math.ceil(leftMs), detail };
}
