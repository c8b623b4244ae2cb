import type { ModelClient, SessionFields, SessionKey } from "@troupe/contracts";
import { type ContextSettings, modelRequest, summaryRequest } from "@troupe/context";
import { problemsOf } from "@troupe/history";
import type { RunContext, RunPort, StartedRun } from "@troupe/kernel";
import { delay, type Logger } from "@troupe/platform";
import type { SessionOutcome, SessionRun } from "@troupe/session";
import type { Toolbox } from "@troupe/tools";
import { callModel } from "./model-call.js";
import type { OrchestratorMetrics } from "./orchestrator-metrics.js";
import { TimeLimit } from "./time-limit.js";
import type { TurnVoice } from "./turn-voice.js";

/** Does the work a session lists: model calls and tool calls, with a preview of both on `live`. */
export interface RunnerBase {
  readonly model: ModelClient;
  readonly context: ContextSettings;
  readonly toolbox: Toolbox;
  readonly voice: TurnVoice;
  readonly log: Logger;
  readonly metrics: OrchestratorMetrics;
}

type InferRun = Extract<SessionRun, { kind: "infer" }>;
type ToolRun = Extract<SessionRun, { kind: "tool" }>;
type Context = RunContext<SessionFields>;

export class SessionRunner implements RunPort<SessionFields, SessionRun, SessionOutcome> {
  readonly #base: RunnerBase;

  constructor(base: RunnerBase) {
    this.#base = base;
  }

  start(run: SessionRun, context: Context): StartedRun<SessionOutcome> {
    const abort = new AbortController();
    return { outcome: this.#do(run, context, abort.signal), abort: () => abort.abort() };
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

  async #wait(ms: number, aborted: AbortSignal): Promise<SessionOutcome> {
    await delay(ms, aborted).catch(() => undefined);
    return aborted.aborted ? never() : { kind: "passed" };
  }

  async #summarise(to: number, { fields }: Context, aborted: AbortSignal): Promise<SessionOutcome> {
    const { model, context, log } = this.#base;
    const request = summaryRequest(fields, to, context);
    const outcome = await callModel(model, request, aborted, { onText: () => undefined, onRetry: () => undefined });
    if (outcome.kind === "aborted") return never();
    if (outcome.kind === "failed") log.warn({ code: outcome.code }, `no summary could be made: ${outcome.detail}`);
    return { kind: "summary", text: outcome.kind === "answer" ? outcome.text.trim() || null : null };
  }

  async #infer(run: InferRun, { key, epoch, fields }: Context, aborted: AbortSignal): Promise<SessionOutcome> {
    const { model, context, toolbox, voice, log, metrics } = this.#base;
    const session = key as SessionKey;
    const { turn, step } = run;
    let { attempt } = run;
    if (attempt > 1) voice.reset(session, epoch, { turn, attempt, reason: "recovered" });
    const request = modelRequest(fields, context, toolbox.specs);
    const problems = problemsOf(request.messages);
    if (problems.length > 0) throw new Error(`the history is not fit for a model: ${problems.join("; ")}`);
    const limit = new TimeLimit(run.deadlineAt, aborted);
    const stopTimer = metrics.modelSeconds.startTimer();
    const outcome = await callModel(model, request, limit.signal, {
      onText: (text) => voice.delta(session, epoch, { turn, attempt, step, text }),
      onRetry: (failure, shown) => {
        log.warn({ turn, code: failure.code }, `model call failed, trying again: ${failure.detail}`);
        if (!shown) return;
        attempt += 1;
        voice.reset(session, epoch, { turn, attempt, reason: "recovered" });
      },
    });
    limit.close();
    stopTimer({ outcome: outcome.kind === "failed" ? outcome.code : outcome.kind });
    if (outcome.kind === "aborted") return this.#whenAborted(aborted);
    if (outcome.kind === "failed") log.error({ turn, code: outcome.code }, `model call failed: ${outcome.detail}`);
    return { kind: "model", outcome };
  }

  async #runTool(run: ToolRun, { key, epoch }: Context, aborted: AbortSignal): Promise<SessionOutcome> {
    const { toolbox, voice, metrics } = this.#base;
    const session = key as SessionKey;
    const { turn, callId, name } = run;
    voice.tool(session, epoch, { turn, callId, name, status: "started", summary: name });
    const limit = new TimeLimit(run.deadlineAt, aborted);
    const work = toolbox.run(name, run.arguments, { now: Date.now() });
    const ended = await Promise.race([work, limit.passed.then(() => undefined)]);
    limit.close();
    if (aborted.aborted) return never();
    const result = ended ?? { content: `The tool "${name}" took too long.`, isError: true };
    const status = result.isError ? "error" : "done";
    metrics.toolCalls.inc({ tool: name, status });
    voice.tool(session, epoch, { turn, callId, name, status, summary: summaryOf(result.content) });
    return { kind: "tool", result };
  }

  /** The owner aborted the run: nobody waits for its outcome. Otherwise it was the turn's deadline. */
  #whenAborted(aborted: AbortSignal): Promise<SessionOutcome> {
    return aborted.aborted ? never() : Promise.resolve({ kind: "deadline" });
  }
}

/** Of a run that was aborted: its owner has forgotten it. Each its own, or what waits for it would pile up. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** The first line of a result, short enough for a status line. */
function summaryOf(content: string): string {
  const [line = ""] = content.split("\n");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
