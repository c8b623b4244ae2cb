export { type SessionActor, sessionActor } from "./session-actor.js";
export type { SessionOutcome, SessionRun } from "./session-run.js";
export type { TurnLimits, TurnRules } from "./turn-flow.js";
