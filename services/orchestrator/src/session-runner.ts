import type { ModelClient, SessionFields, SessionKey } from "@troupe/contracts";
import { type ContextSettings, modelRequest } from "@troupe/context";
import type { RunContext, RunPort, StartedRun } from "@troupe/kernel";
import type { Logger } from "@troupe/platform";
import type { SessionOutcome, SessionRun } from "@troupe/session";
import type { Toolbox } from "@troupe/tools";
import { callModel } from "./model-call.js";
import type { OrchestratorMetrics } from "./orchestrator-metrics.js";
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
    const outcome =
      run.kind === "infer" ? this.#infer(run, context, abort.signal) : this.#runTool(run, context, abort.signal);
    return { outcome, abort: () => abort.abort() };
  }

  async #infer(run: InferRun, { key, epoch, fields }: Context, aborted: AbortSignal): Promise<SessionOutcome> {
    const { model, context, toolbox, voice, log, metrics } = this.#base;
    const session = key as SessionKey;
    const { turn, step } = run;
    let { attempt } = run;
    if (attempt > 1) voice.reset(session, epoch, { turn, attempt, reason: "recovered" });
    const deadline = AbortSignal.timeout(Math.max(0, run.deadlineAt - Date.now()));
    const request = modelRequest(fields, context, toolbox.specs);
    const stopTimer = metrics.modelSeconds.startTimer();
    const outcome = await callModel(model, request, AbortSignal.any([aborted, deadline]), {
      onText: (text) => voice.delta(session, epoch, { turn, attempt, step, text }),
      onRetry: (failure, shown) => {
        log.warn({ turn, code: failure.code }, `model call failed, trying again: ${failure.detail}`);
        if (!shown) return;
        attempt += 1;
        voice.reset(session, epoch, { turn, attempt, reason: "recovered" });
      },
    });
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
    const late = new Promise<"late">((resolve) => {
      const timeout = AbortSignal.timeout(Math.max(0, run.deadlineAt - Date.now()));
      timeout.addEventListener("abort", () => resolve("late"));
    });
    const work = toolbox.run(name, run.arguments, { now: Date.now() });
    const ended = await Promise.race([work, late, whenAborted(aborted)]);
    if (ended === "aborted") return this.#whenAborted(aborted);
    const result = ended === "late" ? { content: `The tool "${name}" took too long.`, isError: true } : ended;
    const status = result.isError ? "error" : "done";
    metrics.toolCalls.inc({ tool: name, status });
    voice.tool(session, epoch, { turn, callId, name, status, summary: summaryOf(result.content) });
    return { kind: "tool", result };
  }

  /** The owner aborted the run: nobody waits for its outcome. Otherwise it was the turn's deadline. */
  #whenAborted(aborted: AbortSignal): Promise<SessionOutcome> {
    return aborted.aborted ? new Promise(() => undefined) : Promise.resolve({ kind: "deadline" });
  }
}

function whenAborted(signal: AbortSignal): Promise<"aborted"> {
  if (signal.aborted) return Promise.resolve("aborted");
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}

/** The first line of a result, short enough for a status line. */
function summaryOf(content: string): string {
  const [line = ""] = content.split("\n");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
