import type { LogMessage } from "@troupe/contracts";
import { isJsonObject } from "./validate.js";

/**
 * Makes a legal history (H2–H5) of an interrupted or damaged one.
 *
 * H6 A user message is never dropped. A call without a result gets one that says so, in the place
 *    and order of its call; a result without a call is dropped.
 * H7 A legal history is returned as it is, the same object: repair is idempotent and costs nothing
 *    where nothing is broken.
 */
type AssistantMessage = Extract<LogMessage, { role: "assistant" }>;
type ToolMessage = Extract<LogMessage, { role: "tool" }>;

export const INTERRUPTED = "Interrupted: whether it was done is unknown.";

/** `pending` are calls that may still be open at the end, because they are being run. */
export function repair(log: readonly LogMessage[], pending: ReadonlySet<string> = new Set()): readonly LogMessage[] {
  const mend = new Mend(pending);
  for (const message of log) mend.take(message);
  return mend.end(log);
}

class Mend {
  readonly #pending: ReadonlySet<string>;
  readonly #out: LogMessage[] = [];
  readonly #used = new Set<string>();
  /** Calls of the newest group without a result: the id the log had for each, and what it gets if none comes. */
  #open: { readonly given: string; readonly result: ToolMessage }[] = [];
  #changed = false;

  constructor(pending: ReadonlySet<string>) {
    this.#pending = pending;
  }

  take(message: LogMessage): void {
    switch (message.role) {
      case "user":
        this.#close();
        this.#out.push(message);
        return;
      case "assistant":
        this.#close();
        this.#takeAssistant(message);
        return;
      case "tool":
        this.#takeResult(message);
        return;
    }
  }

  end(log: readonly LogMessage[]): readonly LogMessage[] {
    this.#open = this.#open.filter(({ result }) => !this.#pending.has(result.tool_call_id));
    this.#close();
    return this.#changed ? this.#out : log;
  }

  #takeAssistant(message: AssistantMessage): void {
    const { tool_calls: calls = [], ...plain } = message;
    if (calls.length === 0) {
      const isEmpty = (message.content ?? "").trim() === "" && message.rest === undefined;
      if (isEmpty || message.tool_calls !== undefined) this.#changed = true;
      if (!isEmpty) this.#out.push(message.tool_calls === undefined ? message : plain);
      return;
    }
    const named = calls.map((call, i) => {
      const id = this.#nameOf(call.id, i);
      const { turn, at } = message;
      const result = {
        role: "tool",
        turn,
        at,
        tool_call_id: id,
        content: INTERRUPTED,
        isError: true,
        blob: null,
      } as const;
      this.#open.push({ given: call.id, result });
      const args = isJsonObject(call.function.arguments) ? call.function.arguments : "{}";
      if (id === call.id && args === call.function.arguments) return call;
      this.#changed = true;
      return { ...call, id, function: { ...call.function, arguments: args } };
    });
    this.#out.push({ ...plain, tool_calls: named });
  }

  /** An id that is empty or taken gets a name of its own (H4). */
  #nameOf(given: string, place: number): string {
    let id = given;
    for (let n = 0; id === "" || this.#used.has(id); n++) id = `${given || "call"}_${this.#out.length}_${place + n}`;
    this.#used.add(id);
    return id;
  }

  #takeResult(message: ToolMessage): void {
    const place = this.#open.findIndex((call) => call.given === message.tool_call_id);
    const [call] = place < 0 ? [] : this.#open.splice(place, 1);
    if (call?.result.tool_call_id === message.tool_call_id) {
      this.#out.push(message);
      return;
    }
    this.#changed = true;
    if (call) this.#out.push({ ...message, tool_call_id: call.result.tool_call_id });
  }

  #close(): void {
    for (const { result } of this.#open) {
      this.#changed = true;
      this.#out.push(result);
    }
    this.#open = [];
  }
}
