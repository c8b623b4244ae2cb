import type { ToolSpec } from "@troupe/contracts";
import { z } from "zod";
import { excerptOf } from "./excerpt.js";
import type { Tool, ToolResult, ToolWorld } from "./tool.js";

export type CheckedCall =
  | { readonly ok: true; readonly name: string; readonly input: unknown; readonly isIdempotent: boolean }
  /** `problem` is for the model: it says what to do better. */
  | { readonly ok: false; readonly problem: string };

/** The tools an agent has. It looks up and checks, it does not decide who may call what. */
export class Toolbox {
  readonly #tools: ReadonlyMap<string, Tool>;
  /** What the model is told. */
  readonly specs: readonly ToolSpec[];

  constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.specs = tools.map(({ name, description, input }) => {
      const { $schema: _, ...parameters } = z.toJSONSchema(input);
      return { name, description, parameters };
    });
  }

  /** Checks a call as the model made it; `args` is the raw text, empty for none. */
  check(name: string, args: string): CheckedCall {
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      return { ok: false, problem: `There is no tool "${name}". Tools: ${[...this.#tools.keys()].join(", ")}.` };
    }
    const json = parseObject(args);
    if (json === undefined)
      return { ok: false, problem: `The arguments of "${name}" are not a JSON object: ${shown(args)}` };
    const parsed = tool.input.safeParse(json);
    if (parsed.success) return { ok: true, name, input: parsed.data, isIdempotent: tool.isIdempotent };
    const issues = parsed.error.issues.map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`);
    return { ok: false, problem: `The arguments of "${name}" do not fit. ${shown(issues.join("; "))}` };
  }

  isIdempotent(name: string): boolean {
    return this.#tools.get(name)?.isIdempotent ?? false;
  }

  timeoutMs(name: string): number {
    return this.#tools.get(name)?.timeoutMs ?? 0;
  }

  /** Does a checked call. A throw of the tool's becomes a result that says so. */
  async run(name: string, args: string, world: ToolWorld): Promise<ToolResult> {
    const call = this.check(name, args);
    const tool = this.#tools.get(name);
    if (!call.ok || tool === undefined) return { content: call.ok ? "" : call.problem, isError: true };
    try {
      return await tool.run(call.input, world);
    } catch (cause) {
      return { content: `The tool failed: ${cause instanceof Error ? cause.message : String(cause)}`, isError: true };
    }
  }
}

/** What the model wrote, as far as it needs to see it again. */
function shown(text: string): string {
  const { text: beginning, next } = excerptOf(text, 0, MOST_SHOWN_LENGTH);
  return next < text.length ? `${beginning} […]` : text;
}

const MOST_SHOWN_LENGTH = 2_000;

/** The object in the text; empty text is an empty object, as models send it for a tool without parameters. */
function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    const object = z.record(z.string(), z.unknown()).safeParse(value);
    return object.success ? object.data : undefined;
  } catch {
    return undefined;
  }
}
