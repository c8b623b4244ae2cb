/** How patient a router is. Durations in milliseconds. */
export interface RouterRules {
  readonly retry: RetryRules;
  readonly wait: WaitRules;
  readonly breaker: BreakerRules;
}

export interface RetryRules {
  /** Failures of one model in one call after which it is left for the next. */
  readonly triesPerModel: number;
  /** The same for silence, which costs a minute each time. */
  readonly stallsPerModel: number;
  /** How often one model may say "later" in one call; such an answer is no failed try. */
  readonly pausesPerModel: number;
  /** Upper bound of the first back-off; it doubles with each try. */
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface WaitRules {
  /** Waiting for pauses, in one call, even if another model could answer. */
  readonly shortPauseMs: number;
  /** All waiting for pauses in one call, when no other model can answer. */
  readonly pausesMs: number;
  /** All waiting for cool-downs in one call, when no other model can answer. */
  readonly coolDownsMs: number;
  /** After a pause calls come back spread over half of its length, within these bounds. */
  readonly leastSpreadMs: number;
  readonly mostSpreadMs: number;
  /** How often a call that waits for another one's probe looks again. */
  readonly probeLookMs: number;
}

export interface BreakerRules {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** The first cool-down; it doubles with each probe that fails. */
  readonly firstCoolDownMs: number;
  readonly longestCoolDownMs: number;
}

export const ROUTER_RULES: RouterRules = {
  retry: {
    // The first repetition mends most of what passes; a third failure within seconds is no accident any more.
    triesPerModel: 3,
    stallsPerModel: 2,
    // Limits per minute refuse several times while a crowd comes back; more than this means that we are too many.
    pausesPerModel: 6,
    // A restarting server needs some hundred milliseconds; a person notices a second.
    firstMs: 250,
    longestMs: 4_000,
  },
  wait: {
    // As long as a person takes for thinking; the model that was chosen is worth that.
    shortPauseMs: 2_000,
    // Limits are per minute: waiting one out is better than telling a person to ask again.
    pausesMs: 60_000,
    // A cool-down is our own guess, not the provider's word.
    coolDownsMs: 15_000,
    // Half a pause for the return of everybody: the refused ones waited long enough to lose little by it.
    leastSpreadMs: 250,
    mostSpreadMs: 5_000,
    probeLookMs: 250,
  },
  breaker: {
    // More than one call's own tries, so that one unlucky turn does not shut a model for all.
    failures: 5,
    firstCoolDownMs: 2_000,
    // A model that is back is noticed within half a minute, at a price of two calls a minute.
    longestCoolDownMs: 30_000,
  },
};
