import type { SessionFields, SessionKey } from "@troupe/contracts";
import type { BlobPlace, BlobStore } from "@troupe/jetstream";
import type { RunContext } from "@troupe/kernel";
import type { Logger } from "@troupe/platform";
import type { SessionOutcome, SessionRun } from "@troupe/session";
import { excerptOf, MAX_RESULT_LENGTH, shortened, type Toolbox, type ToolResult } from "@troupe/tools";
import type { OrchestratorMetrics } from "./orchestrator-metrics.js";
import { TimeLimit } from "./time-limit.js";
import type { TurnVoice } from "./turn-voice.js";

type ToolRun = Extract<SessionRun, { kind: "tool" }>;
type ToolOutcome = Extract<SessionOutcome, { kind: "tool" }>;

export interface ToolRunnerBase {
  readonly toolbox: Toolbox;
  readonly blobs: Pick<BlobStore, "put" | "get">;
  readonly voice: TurnVoice;
  readonly log: Logger;
  readonly metrics: OrchestratorMetrics;
}

/** Runs a session's tool calls, each within its time, and keeps results short enough for the log. */
export class ToolRunner {
  readonly #base: ToolRunnerBase;

  constructor(base: ToolRunnerBase) {
    this.#base = base;
  }

  /** The outcome, or undefined when the run was aborted. */
  async run(
    run: ToolRun,
    { key, epoch, fields }: RunContext<SessionFields>,
    aborted: AbortSignal,
  ): Promise<ToolOutcome | undefined> {
    const { voice, metrics } = this.#base;
    const session = key as SessionKey;
    const { turn, callId, name } = run;
    voice.tool(session, epoch, { turn, callId, name, status: "started", summary: name });
    const limit = new TimeLimit(run.deadlineAt, aborted);
    const ended = await Promise.race([
      this.#call(run, { key: session, generation: fields.generation }, limit.signal),
      limit.passed.then(() => undefined),
    ]);
    limit.close();
    if (aborted.aborted) return undefined;
    const result = ended ?? { content: `The tool "${name}" took too long.`, isError: true, blob: null };
    const status = result.isError ? "error" : "done";
    metrics.toolCalls.inc({ tool: name, status });
    voice.tool(session, epoch, { turn, callId, name, status, summary: summaryOf(result.content) });
    return { kind: "tool", result };
  }

  async #call(run: ToolRun, place: BlobPlace, signal: AbortSignal): Promise<ToolResult & { blob: string | null }> {
    const { toolbox, blobs } = this.#base;
    const readBlob = (blob: string) => blobs.get(place, blob);
    const result = await toolbox.run(run.name, run.arguments, { now: Date.now(), signal, readBlob });
    if (result.content.length <= MAX_RESULT_LENGTH) return { ...result, blob: null };
    return this.#store(place, result);
  }

  /** The whole goes to the object store before the log names it; if that fails, the beginning has to do. */
  async #store(place: BlobPlace, result: ToolResult): Promise<ToolResult & { blob: string | null }> {
    let blob: string;
    try {
      blob = await this.#base.blobs.put(place, result.content);
    } catch (cause) {
      this.#base.log.error({ key: place.key, err: cause }, "a long tool result could not be stored");
      const { text } = excerptOf(result.content, 0, MAX_RESULT_LENGTH - 100);
      const content = `${text}\n[Cut: the rest could not be stored.]`;
      return { content, isError: result.isError, blob: null };
    }
    return { content: shortened(result.content, blob), isError: result.isError, blob };
  }
}

/** The first line of a result, short enough for a status line. */
function summaryOf(content: string): string {
  const [line = ""] = content.split("\n");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
