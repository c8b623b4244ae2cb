import type { LogMessage, ModelRequest, SessionFields, SessionKey, Turn } from "@troupe/contracts";
import { type ContextSettings, isEnough, type LoadedLog, modelRequest, summaryRequest } from "@troupe/context";
import { estimateTokens, messagesBetween, newestMessages, problemsOf, type SealedLog } from "@troupe/history";
import { type ReadRest, wholeMessages, wholeText } from "@troupe/history";
import type { SegmentStore } from "@troupe/jetstream";
import type { RunContext, RunPort, StartedRun } from "@troupe/kernel";
import { backoff, delay } from "@troupe/platform";
import { cleanText } from "@troupe/reasoning";
import type { SessionOutcome, SessionRun } from "@troupe/session";
import { excerptOf } from "@troupe/tools";
import { cleanAnswer, LONG_ANSWER_LENGTH } from "./model/clean-answer.js";
import { LiveAttempts } from "./model/live-attempts.js";
import type { ModelRouter, RequestForm } from "./model/model-router.js";
import { TurnPreview } from "./model/turn-preview.js";
import { TimeLimit } from "./time-limit.js";
import { ToolRunner, type ToolRunnerBase } from "./tool-runner.js";

/** Does the work a session lists: model calls and tool calls, with a preview of both on `live`. */
export interface RunnerBase extends ToolRunnerBase {
  readonly model: ModelRouter;
  readonly context: Omit<ContextSettings, "model">;
  readonly segments: SegmentStore;
}

type InferRun = Extract<SessionRun, { kind: "infer" }>;
type ToolRun = Extract<SessionRun, { kind: "tool" }>;
type Context = RunContext<SessionFields>;

/** Why a run is aborted. One for all: by default each abort makes an error of its own, with a stack that nobody reads. */
const OVER = new Error("the run is no longer wanted");

/** A summary is asked to have 300 words; one that goes on and on is shown up to here. In UTF-16 units. */
const MAX_SUMMARY_LENGTH = 12_000;

/** What the model is shown, with no text left out. */
interface Whole {
  readonly fields: SessionFields;
  readonly log: LoadedLog;
}

export class SessionRunner implements RunPort<SessionFields, SessionRun, SessionOutcome> {
  readonly #base: RunnerBase;
  readonly #attempts = new LiveAttempts();
  readonly #tools: ToolRunner;

  constructor(base: RunnerBase) {
    this.#base = base;
    this.#tools = new ToolRunner(base);
  }

  start(run: SessionRun, context: Context): StartedRun<SessionOutcome> {
    const abort = new AbortController();
    return { outcome: this.#do(run, context, abort.signal), abort: () => abort.abort(OVER) };
  }

  #do(run: SessionRun, context: Context, aborted: AbortSignal): Promise<SessionOutcome> {
    switch (run.kind) {
      case "infer":
        return this.#infer(run, context, aborted);
      case "tool":
        return this.#runTool(run, context, aborted);
      case "patience":
        return this.#wait(run.ms, aborted);
      case "summarise":
        return this.#summarise(run.to, context, aborted);
    }
  }

  /** Every turn has one of these, and nearly all are aborted: without an error for each. */
  #wait(ms: number, aborted: AbortSignal): Promise<SessionOutcome> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ kind: "passed" }), ms);
      aborted.addEventListener("abort", () => clearTimeout(timer), { once: true });
    });
  }

  async #summarise(to: number, { key, fields }: Context, aborted: AbortSignal): Promise<SessionOutcome> {
    const { model, context, log, segments } = this.#base;
    const range = { from: fields.summary?.upTo ?? 0, to };
    const messages = await messagesBetween(sealedLog(key, fields), range, segments.read).catch((cause: unknown) => {
      // A run that fails would end the turn beside it; a summary can wait until the history is readable again.
      log.warn({ key, err: cause }, "no summary could be made: a part of the history cannot be read now");
      return null;
    });
    if (aborted.aborted) return never();
    if (messages === null) return { kind: "summary", text: null };
    const build = (form: RequestForm) => summaryRequest(fields, messages, { ...context, model: form.model });
    const outcome = await model.complete("consolidation", build, {
      signal: aborted,
      onText: () => undefined,
      onReset: () => undefined,
    });
    if (outcome.kind === "aborted") return never();
    if (outcome.kind === "failed") log.warn({ code: outcome.code }, `no summary could be made: ${outcome.detail}`);
    if (outcome.kind === "failed") return { kind: "summary", text: null };
    const { text } = excerptOf(cleanText(outcome.text).visible.trim(), 0, MAX_SUMMARY_LENGTH);
    return { kind: "summary", text: text || null };
  }

  async #infer(run: InferRun, { key, epoch, fields }: Context, aborted: AbortSignal): Promise<SessionOutcome> {
    const { model, voice, log, metrics } = this.#base;
    const session = key as SessionKey;
    const { turn, step } = run;
    const preview = new TurnPreview(voice, this.#attempts, { session, epoch, turn, step, attempt: run.attempt });
    if (run.resumed === true) preview.announce();
    const limit = new TimeLimit(run.deadlineAt, aborted);
    const stopTimer = metrics.modelSeconds.startTimer();
    try {
      const whole = await this.#load(session, fields, limit.signal);
      if (whole === undefined) {
        stopTimer({ outcome: "aborted" });
        return await this.#whenAborted(aborted);
      }
      const outcome = await model.complete("answer", (form) => this.#request(whole, form), {
        signal: limit.signal,
        timeLeftMs: run.deadlineAt - Date.now(),
        onText: (text) => preview.add(text),
        onReset: (reason) => preview.reset(reason),
        about: { turn },
      });
      if (outcome.kind === "answer") preview.end();
      stopTimer({ outcome: outcome.kind === "failed" ? outcome.code : outcome.kind });
      if (outcome.kind === "aborted") return await this.#whenAborted(aborted);
      if (outcome.kind === "failed") log.error({ turn, code: outcome.code }, `model call failed: ${outcome.detail}`);
      if (outcome.kind !== "answer" || outcome.text.length <= LONG_ANSWER_LENGTH) return { kind: "model", outcome };
      return { kind: "model", outcome: { ...outcome, text: await cleanAnswer(outcome.text) }, isClean: true };
    } finally {
      limit.close();
    }
  }

  /** As much of the log as a model may be shown; older pieces are read only when they are. Undefined: aborted. */
  async #load(key: SessionKey, fields: SessionFields, signal: AbortSignal): Promise<Whole | undefined> {
    const { context, segments, blobs, log } = this.#base;
    const readRest: ReadRest = ({ blob }) => blobs.get({ key, generation: fields.generation }, blob);
    const enough = (messages: readonly LogMessage[], from: number) =>
      isEnough(fields, { from, messages }, context.windowTokens);
    const pauses = backoff({ minMs: 100, maxMs: 2_000 });
    for (;;) {
      try {
        const { from, messages } = await newestMessages(sealedLog(key, fields), enough, segments.read);
        const turn = fields.turn === null ? null : await wholeTurn(fields.turn, readRest);
        return { fields: { ...fields, turn }, log: { from, messages: await wholeMessages(messages, readRest) } };
      } catch (cause) {
        // The server may be away for a moment; the turn's deadline ends the patience.
        if (signal.aborted) return undefined;
        log.warn({ key, err: cause }, "a part of the history cannot be read now, trying again");
        await delay(pauses.next(), signal).catch(() => undefined);
      }
    }
  }

  #request({ fields, log: loaded }: Whole, { model, windowShare }: RequestForm): ModelRequest {
    const { context, toolbox } = this.#base;
    const windowTokens = windowShare === 1 ? context.windowTokens : sharedWindow(loaded, context, windowShare);
    const request = modelRequest(fields, loaded, { ...context, model, windowTokens }, toolbox.specs);
    const problems = problemsOf(request.messages);
    if (problems.length > 0) throw new Error(`the history is not fit for a model: ${problems.join("; ")}`);
    return request;
  }

  async #runTool(run: ToolRun, context: Context, aborted: AbortSignal): Promise<SessionOutcome> {
    return (await this.#tools.run(run, context, aborted)) ?? never();
  }

  /** The owner aborted the run: nobody waits for its outcome. Otherwise it was the turn's deadline. */
  #whenAborted(aborted: AbortSignal): Promise<SessionOutcome> {
    return aborted.aborted ? never() : Promise.resolve({ kind: "deadline" });
  }
}

async function wholeTurn(turn: Turn, read: ReadRest): Promise<Turn> {
  const { instructions, instructionsRest, ...others } = turn;
  if (instructions === undefined) return turn;
  return { ...others, instructions: await wholeText(instructions, instructionsRest, read) };
}

/** A share of what is shown usually: a conversation that does not fill the window would be no shorter in half of it. */
function sharedWindow(
  { messages }: LoadedLog,
  { windowTokens }: Pick<ContextSettings, "windowTokens">,
  share: number,
): number {
  const size = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
  return Math.min(windowTokens, size) * share;
}

function sealedLog(key: string, { log, generation }: SessionFields): SealedLog {
  return { ...log, key, generation };
}

/** Of a run that was aborted: its owner has forgotten it. Each its own, or what waits for it would pile up. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
