export { type SessionActor, sessionActor } from "./session-actor.js";
export type { SessionOutcome, SessionRun } from "./session-run.js";
export type { SecondMessage, TurnLimits, TurnRules } from "./turn-rules.js";
