import type { LogMessage, ModelOutcome, QueuedMessage, TextRest, Turn } from "@troupe/contracts";
import { INTERRUPTED, summaryEnd } from "@troupe/history";
import { type Call, interpret } from "@troupe/inference";
import { cleanText } from "@troupe/reasoning";
import type { Ending } from "@troupe/response";
import type { Draft } from "./draft.js";
import { callsIn, openCalls } from "./open-calls.js";
import type { SessionOutcome, SessionRun } from "./session-run.js";
import type { TurnRules } from "./turn-rules.js";

/**
 * A turn as a state machine; every step is a commit.
 *
 * S1 The user message is in the log before the first model call; an assistant message with calls is
 *    in it before any of them runs; each result is appended as it arrives.
 * S2 Every call is followed by its result, whatever happens to the turn.
 * S3 A turn ends once, in `end`; then the next queued message begins.
 * S4 A turn that reaches a limit ends with an honest final.
 * S5 Reasoning never enters the log: text is cleaned before anything is decided on it.
 */

/** Asked again this often when an answer was empty. */
const MAX_EMPTY_ANSWERS = 2;
/** A turn resumed more often without a step forward is taken for one that ends its process. */
const MAX_RESUMES = 5;
/** The pauses between "still working" notices double up to this. */
const MAX_NOTICE_MS = 300_000;

const INFER = "infer";
const PATIENCE = "patience";
export const SUMMARISE = "summarise";
const toolRef = (callId: string): string => `tool:${callId}`;

type InferOutcome = Exclude<ModelOutcome, { kind: "aborted" }>;
type Result = Pick<Extract<LogMessage, { role: "tool" }>, "content" | "isError"> & { readonly blob?: string | null };

/** S5 */
const withoutReasoning = (outcome: InferOutcome): InferOutcome =>
  outcome.kind === "answer" ? { ...outcome, text: cleanText(outcome.text).visible } : outcome;

/** Of a text whose beginning is in the state. */
const restOf = (rest: TextRest | undefined) => (rest === undefined ? {} : { rest });

export class TurnFlow {
  readonly #draft: Draft;
  readonly #rules: TurnRules;

  constructor(draft: Draft, rules: TurnRules) {
    this.#draft = draft;
    this.#rules = rules;
  }

  begin({ turn: id, text, rest, instructions, instructionsRest, introduce, trace }: QueuedMessage): void {
    const { now } = this.#draft;
    const { limits } = this.#rules;
    const turn: Turn = {
      id,
      status: "running",
      since: now,
      deadlineAt: now + limits.deadlineMs,
      steps: 0,
      tokens: 0,
      attempt: 1,
      resumes: 0,
      emptyAnswers: 0,
      introduce,
      ...(instructions === undefined ? {} : { instructions }),
      ...(instructionsRest === undefined ? {} : { instructionsRest }),
      ...(trace === undefined ? {} : { trace }),
    };
    this.#draft.set({ turn });
    this.#draft.append({ role: "user", turn: id, at: now, content: text, ...restOf(rest) });
    if (limits.noticeMs > 0) this.#draft.run(PATIENCE, { kind: "patience", turn: id, ms: limits.noticeMs });
    this.#infer(turn);
  }

  /** Ends the running turn and begins the next queued one. */
  end(ending: Ending): void {
    const { turn, steered } = this.#draft.fields;
    if (turn === null) return;
    this.#closeCalls(turn, ending.kind === "cancelled" ? "Cancelled before it ended." : "Not run: the turn ended.");
    this.#draft.abort(INFER, PATIENCE);
    this.#draft.end(turn.id, ending, turn.trace);
    // What the turn did not come to take in gets a turn of its own.
    this.#draft.set({ turn: null, steered: [], queued: [...steered, ...this.#draft.fields.queued] });
    const [next, ...queued] = this.#draft.fields.queued;
    if (next === undefined) return this.#summariseIfLong();
    this.#draft.set({ queued });
    this.begin(next);
  }

  onOutcome(run: SessionRun, outcome: SessionOutcome): void {
    if (run.kind === "summarise") return this.#onSummary(run, outcome);
    const { turn } = this.#draft.fields;
    if (turn === null || turn.id !== run.turn) return;
    switch (outcome.kind) {
      case "model":
        return this.#onModel(turn, outcome.isClean ? outcome.outcome : withoutReasoning(outcome.outcome));
      case "tool":
        return run.kind === "tool" ? this.#onResult(turn, run.callId, outcome.result) : undefined;
      case "passed":
        return run.kind === "patience" ? this.#stillWorking(turn, run.ms) : undefined;
      case "deadline":
        return this.end({ kind: "error", code: "deadline", retryable: true });
      case "summary":
        return undefined;
    }
  }

  /** Runs another owner had under way: the model is asked again, a tool only if it may be done twice. */
  onResumed(runs: readonly SessionRun[]): void {
    for (const run of runs) if (run.kind === "summarise") this.#draft.run(SUMMARISE, run);
    const { turn } = this.#draft.fields;
    if (turn === null) return;
    const [attempt, resumes] = [turn.attempt + 1, turn.resumes + 1];
    if (resumes > MAX_RESUMES) return this.end({ kind: "error", code: "internal", retryable: true });
    this.#draft.setTurn({ attempt, resumes });
    let waits = false;
    for (const run of runs) {
      if (run.kind === "summarise" || run.turn !== turn.id) continue;
      if (run.kind === "patience") this.#draft.run(PATIENCE, run);
      else waits = this.#resume(turn, run, attempt) || waits;
    }
    if (!waits) this.#goOn();
  }

  #resume(turn: Turn, run: Extract<SessionRun, { kind: "infer" | "tool" }>, attempt: number): boolean {
    if (run.kind === "infer") this.#draft.run(INFER, { ...run, attempt, resumed: true });
    else if (this.#rules.toolbox.isIdempotent(run.name)) this.#draft.run(toolRef(run.callId), run);
    else {
      this.#appendResult(turn, run.callId, { content: INTERRUPTED, isError: true });
      return false;
    }
    return true;
  }

  #infer({ id, attempt, deadlineAt, trace, steps }: Turn): void {
    this.#draft.setTurn({ steps: steps + 1, resumes: 0 });
    const traced = trace === undefined ? {} : { trace };
    this.#draft.run(INFER, { kind: "infer", turn: id, step: steps + 1, attempt, deadlineAt, ...traced });
  }

  /** The next model call, with what was steered in, if the limits allow one (S4). */
  #goOn(): void {
    const { turn } = this.#draft.fields;
    if (turn === null) return;
    const limit = this.#limitReached();
    if (limit !== null) return this.end({ kind: "error", code: limit, retryable: false });
    for (const message of this.#draft.fields.steered) {
      const { text: content, rest } = message;
      this.#draft.append({ role: "user", turn: turn.id, at: this.#draft.now, content, ...restOf(rest) });
      this.#draft.end(message.turn, { kind: "merged", into: turn.id }, message.trace);
    }
    this.#draft.set({ steered: [] });
    this.#infer(turn);
  }

  #limitReached(): "turn_limit" | "budget_exceeded" | null {
    const { steps = 0, tokens = 0 } = this.#draft.fields.turn ?? {};
    const { maxSteps, maxTokens } = this.#rules.limits;
    if (steps >= maxSteps) return "turn_limit";
    return tokens >= maxTokens ? "budget_exceeded" : null;
  }

  #onModel(turn: Turn, outcome: InferOutcome): void {
    const isAnswer = outcome.kind === "answer";
    const tokens = isAnswer ? outcome.usage.inputTokens + outcome.usage.outputTokens : 0;
    this.#draft.setTurn({ tokens: turn.tokens + tokens });
    const { log } = this.#draft.fields;
    const taken = new Set(log.tail.flatMap(callsIn));
    const prefix = `call_${turn.id.slice(2, 14)}_${turn.steps}_${turn.attempt}`;
    const result = interpret(outcome, { taken, prefix, isWhole: log.segments.length === 0 });
    switch (result.kind) {
      case "answer":
        return this.#onAnswer(turn, result.text);
      case "failed":
        return this.end({ kind: "error", code: result.code, retryable: result.retryable });
      case "empty":
        return this.#onEmpty(turn);
      case "calls":
        return this.#onCalls(turn, result.text, result.calls);
    }
  }

  /** An answer ends the turn, unless somebody spoke in the meantime: then it is said, and the turn goes on. */
  #onAnswer(turn: Turn, text: string): void {
    const { steered, introduced } = this.#draft.fields;
    if (steered.length > 0 && this.#limitReached() === null) {
      this.#draft.append({ role: "assistant", turn: turn.id, at: this.#draft.now, content: text });
      return this.#goOn();
    }
    const introduction = turn.introduce && !introduced ? this.#rules.introduction : null;
    if (introduction !== null) this.#draft.set({ introduced: true });
    this.end({ kind: "answer", text, introduction });
  }

  #onEmpty(turn: Turn): void {
    if (turn.emptyAnswers >= MAX_EMPTY_ANSWERS)
      return this.end({ kind: "error", code: "empty_answer", retryable: true });
    this.#draft.setTurn({ emptyAnswers: turn.emptyAnswers + 1 });
    this.#goOn();
  }

  #onCalls(turn: Turn, text: string | null, calls: readonly Call[]): void {
    const { toolbox } = this.#rules;
    const { now } = this.#draft;
    this.#draft.setTurn({ emptyAnswers: 0 });
    this.#draft.append({
      role: "assistant",
      turn: turn.id,
      at: now,
      content: text,
      tool_calls: calls.map((c) => c.wire),
    });
    for (const { wire, raw, refused } of calls) {
      const { name, arguments: args } = wire.function;
      const checked = refused === undefined ? toolbox.check(name, raw) : { ok: false as const, problem: refused };
      if (!checked.ok) {
        this.#appendResult(turn, wire.id, { content: checked.problem, isError: true });
        continue;
      }
      const deadlineAt = Math.min(turn.deadlineAt, now + toolbox.timeoutMs(name));
      const run: SessionRun = { kind: "tool", turn: turn.id, callId: wire.id, name, arguments: args, deadlineAt };
      this.#draft.run(toolRef(wire.id), run, !checked.isIdempotent);
    }
    if (openCalls(this.#draft.fields).length === 0) this.#goOn();
  }

  #onResult(turn: Turn, callId: string, result: Result): void {
    this.#appendResult(turn, callId, result);
    if (openCalls(this.#draft.fields).length === 0) this.#goOn();
  }

  #appendResult(turn: Turn, callId: string, { content, isError, blob = null }: Result): void {
    this.#draft.append({
      role: "tool",
      turn: turn.id,
      at: this.#draft.now,
      tool_call_id: callId,
      content,
      isError,
      blob,
    });
  }

  /** S2: what was not run, or whose outcome nobody will learn, gets a result that says so. */
  #closeCalls(turn: Turn, content: string): void {
    const open = openCalls(this.#draft.fields);
    this.#draft.abort(...open.map(toolRef));
    for (const id of open) this.#appendResult(turn, id, { content, isError: true });
  }

  #stillWorking(turn: Turn, waitedMs: number): void {
    const minutes = Math.round((this.#draft.now - turn.since) / 60_000);
    const since = minutes < 1 ? "" : ` (${minutes} min so far)`;
    this.#draft.notice({ turn: turn.id, level: "info", text: `Still working on it${since}.` });
    this.#draft.run(PATIENCE, { kind: "patience", turn: turn.id, ms: Math.min(waitedMs * 2, MAX_NOTICE_MS) });
  }

  /** Beside the turns: a summary is made of what will soon be too long to show. */
  #summariseIfLong(): void {
    const { log, summary, generation, summarising } = this.#draft.fields;
    if (summarising) return;
    const to = summaryEnd(log, summary?.upTo ?? 0, this.#rules.windowTokens);
    if (to === null) return;
    this.#draft.set({ summarising: true });
    this.#draft.run(SUMMARISE, { kind: "summarise", generation, to });
  }

  #onSummary(run: Extract<SessionRun, { kind: "summarise" }>, outcome: SessionOutcome): void {
    this.#draft.set({ summarising: false });
    if (outcome.kind !== "summary" || outcome.text === null) return;
    if (run.generation !== this.#draft.fields.generation) return;
    this.#draft.set({ summary: { text: outcome.text, upTo: run.to } });
  }
}
