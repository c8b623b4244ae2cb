import type { z } from "zod";

/** Says that nobody waits for a call any more. An `AbortSignal` is one; pure code has no name for that. */
export interface CancelSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
}

/**
 * A tool the agent may call. Declarations are pure; a tool whose work needs the outside world gets
 * it through `ToolWorld`, which the service provides.
 */
export interface ToolWorld {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Aborts when the call's time is up or its turn is cancelled: a tool that takes long or acts outside stops then. */
  readonly signal: CancelSignal;
  /** The whole of a long result of this conversation's; undefined when there is none of that name. */
  readBlob(name: string): Promise<string | undefined>;
}

export interface ToolResult {
  readonly content: string;
  readonly isError: boolean;
}

export interface Tool<I extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** Told to the model. */
  readonly description: string;
  readonly input: I;
  /** Whether doing it twice is the same as doing it once: then it is run again after a crash. */
  readonly isIdempotent: boolean;
  /** Longest time one call may take. */
  readonly timeoutMs: number;
  run(input: z.infer<I>, world: ToolWorld): Promise<ToolResult>;
}

/** Keeps the input's type while a tool is declared. */
export function defineTool<I extends z.ZodType>(tool: Tool<I>): Tool<I> {
  return tool;
}
