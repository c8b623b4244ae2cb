import type { LogMessage, QueuedMessage, Turn } from "@troupe/contracts";
import { type Call, judge } from "@troupe/inference";
import type { Ending } from "@troupe/response";
import type { Toolbox } from "@troupe/tools";
import type { Draft } from "./draft.js";
import type { SessionOutcome, SessionRun } from "./session-run.js";

/**
 * A turn as a state machine; every step is a commit.
 *
 * S1 The user message is in the log before the first model call; an assistant message with calls is
 *    in it before any of them runs; each result is appended as it arrives.
 * S2 Every call is followed by its result, whatever happens to the turn.
 * S3 A turn ends once, by `Draft.end`; then the next queued message begins.
 * S4 A turn that reaches a limit ends with an honest final.
 */
export interface TurnLimits {
  readonly maxSteps: number;
  readonly deadlineMs: number;
  readonly maxTokens: number;
}

export interface TurnRules {
  readonly limits: TurnLimits;
  readonly toolbox: Toolbox;
}

/** Asked again this often when an answer was empty. */
const MAX_EMPTY_ANSWERS = 2;
/** A turn resumed this often without coming to an end is taken for one that ends its process. */
const MAX_ATTEMPTS = 6;

const INFER = "infer";
const toolRef = (callId: string): string => `tool:${callId}`;

export function beginTurn(draft: Draft, message: QueuedMessage, { limits }: TurnRules): void {
  const turn: Turn = {
    id: message.turn,
    status: "running",
    since: draft.now,
    deadlineAt: draft.now + limits.deadlineMs,
    steps: 0,
    tokens: 0,
    attempt: 1,
    emptyAnswers: 0,
    ...(message.instructions === undefined ? {} : { instructions: message.instructions }),
    ...(message.trace === undefined ? {} : { trace: message.trace }),
  };
  draft.set({ turn });
  draft.append({ role: "user", turn: message.turn, at: draft.now, content: message.text });
  infer(draft, turn);
}

function infer(draft: Draft, turn: Turn): void {
  const steps = turn.steps + 1;
  draft.setTurn({ steps });
  const { id, attempt, deadlineAt, trace } = turn;
  const body: SessionRun = { kind: "infer", turn: id, step: steps, attempt, deadlineAt, ...(trace ? { trace } : {}) };
  draft.run({ ref: INFER, sideEffect: false, body });
}

/** Ends the running turn and begins the next queued one. */
export function endTurn(draft: Draft, ending: Ending, rules: TurnRules): void {
  const { turn } = draft.fields;
  if (turn === null) return;
  closeCalls(draft, turn, ending.kind === "cancelled" ? "Cancelled before it ended." : "Not run: the turn ended.");
  draft.end(turn.id, ending, turn.trace);
  draft.set({ turn: null });
  const [next, ...queued] = draft.fields.queued;
  if (next === undefined) return;
  draft.set({ queued });
  beginTurn(draft, next, rules);
}

export function onOutcome(draft: Draft, run: SessionRun, outcome: SessionOutcome, rules: TurnRules): void {
  const { turn } = draft.fields;
  if (turn === null || turn.id !== run.turn) return;
  switch (outcome.kind) {
    case "deadline":
      return endTurn(draft, { kind: "error", code: "deadline", retryable: true }, rules);
    case "tool":
      return run.kind === "tool" ? onToolResult(draft, turn, run.callId, outcome.result, rules) : undefined;
    case "model":
      return onModel(draft, turn, outcome, rules);
  }
}

function onModel(
  draft: Draft,
  turn: Turn,
  outcome: Extract<SessionOutcome, { kind: "model" }>,
  rules: TurnRules,
): void {
  const { outcome: answer } = outcome;
  const tokens = answer.kind === "answer" ? answer.usage.inputTokens + answer.usage.outputTokens : 0;
  draft.setTurn({ tokens: turn.tokens + tokens });
  const taken = new Set(draft.fields.log.tail.flatMap((message) => callsOf(message).map((call) => call.id)));
  const verdict = judge(answer, { taken, prefix: `call_${turn.id.slice(2, 14)}_${turn.steps}_${turn.attempt}` });
  switch (verdict.kind) {
    case "answer":
      return endTurn(draft, { kind: "answer", text: verdict.text }, rules);
    case "failed":
      return endTurn(draft, { kind: "error", code: verdict.code, retryable: verdict.retryable }, rules);
    case "empty":
      if (turn.emptyAnswers >= MAX_EMPTY_ANSWERS) {
        return endTurn(draft, { kind: "error", code: "empty_answer", retryable: true }, rules);
      }
      draft.setTurn({ emptyAnswers: turn.emptyAnswers + 1 });
      return goOn(draft, rules);
    case "calls":
      return onCalls(draft, turn, verdict, rules);
  }
}

/** The next model call, if the limits allow one (S4). */
function goOn(draft: Draft, rules: TurnRules): void {
  const { turn } = draft.fields;
  if (turn === null) return;
  const { maxSteps, maxTokens } = rules.limits;
  if (turn.steps >= maxSteps) return endTurn(draft, { kind: "error", code: "turn_limit", retryable: false }, rules);
  if (turn.tokens >= maxTokens) {
    return endTurn(draft, { kind: "error", code: "budget_exceeded", retryable: false }, rules);
  }
  infer(draft, turn);
}

function onCalls(
  draft: Draft,
  turn: Turn,
  { text, calls }: { readonly text: string | null; readonly calls: readonly Call[] },
  rules: TurnRules,
): void {
  draft.setTurn({ emptyAnswers: 0 });
  draft.append({
    role: "assistant",
    turn: turn.id,
    at: draft.now,
    content: text,
    tool_calls: calls.map((call) => call.wire),
  });
  for (const { wire, raw } of calls) {
    const checked = rules.toolbox.check(wire.function.name, raw);
    if (checked.ok) runTool(draft, turn, wire.id, { name: checked.name, args: wire.function.arguments }, rules);
    else draft.append(resultMessage(draft, turn.id, wire.id, { content: checked.problem, isError: true }));
  }
  if (openCalls(draft).length === 0) goOn(draft, rules);
}

function runTool(
  draft: Draft,
  turn: Turn,
  callId: string,
  { name, args }: { readonly name: string; readonly args: string },
  rules: TurnRules,
): void {
  const deadlineAt = Math.min(turn.deadlineAt, draft.now + rules.toolbox.timeoutMs(name));
  const body: SessionRun = { kind: "tool", turn: turn.id, callId, name, arguments: args, deadlineAt };
  draft.run({ ref: toolRef(callId), sideEffect: !rules.toolbox.isIdempotent(name), body });
}

function onToolResult(
  draft: Draft,
  turn: Turn,
  callId: string,
  result: { readonly content: string; readonly isError: boolean },
  rules: TurnRules,
): void {
  draft.append(resultMessage(draft, turn.id, callId, result));
  if (openCalls(draft).length === 0) goOn(draft, rules);
}

/** Runs another owner had under way: the model is asked again, a tool only if it may be done twice. */
export function onResumed(draft: Draft, runs: readonly SessionRun[], rules: TurnRules): void {
  const { turn } = draft.fields;
  if (turn === null) return;
  const attempt = turn.attempt + 1;
  if (attempt > MAX_ATTEMPTS) return endTurn(draft, { kind: "error", code: "internal", retryable: true }, rules);
  draft.setTurn({ attempt });
  for (const run of runs) {
    if (run.turn !== turn.id) continue;
    if (run.kind === "infer") draft.run({ ref: INFER, sideEffect: false, body: { ...run, attempt } });
    else if (rules.toolbox.isIdempotent(run.name))
      draft.run({ ref: toolRef(run.callId), sideEffect: false, body: run });
    else draft.append(resultMessage(draft, turn.id, run.callId, INTERRUPTED));
  }
  const isWaiting = runs.some(
    (run) => run.turn === turn.id && (run.kind === "infer" || rules.toolbox.isIdempotent(run.name)),
  );
  if (!isWaiting) goOn(draft, rules);
}

/** S2: what was not run, or whose outcome nobody will learn, gets a result that says so. */
function closeCalls(draft: Draft, turn: Turn, content: string): void {
  const open = openCalls(draft);
  draft.abort(INFER, ...open.map(toolRef));
  for (const id of open) draft.append(resultMessage(draft, turn.id, id, { content, isError: true }));
}

const INTERRUPTED = { content: "Interrupted: whether it was done is unknown.", isError: true };

/** Ids of the last assistant message's calls that have no result yet. */
function openCalls(draft: Draft): string[] {
  const { tail } = draft.fields.log;
  const at = tail.findLastIndex((message) => message.role !== "tool");
  const last = tail[at];
  if (last === undefined) return [];
  const done = new Set(tail.slice(at + 1).map((message) => (message.role === "tool" ? message.tool_call_id : "")));
  return callsOf(last)
    .map((call) => call.id)
    .filter((id) => !done.has(id));
}

function callsOf(message: LogMessage): readonly { readonly id: string }[] {
  return message.role === "assistant" ? (message.tool_calls ?? []) : [];
}

function resultMessage(
  draft: Draft,
  turn: string,
  callId: string,
  { content, isError }: { readonly content: string; readonly isError: boolean },
): LogMessage {
  return { role: "tool", turn, at: draft.now, tool_call_id: callId, content, isError, blob: null };
}
