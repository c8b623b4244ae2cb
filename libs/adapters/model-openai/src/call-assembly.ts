/*
 * Tool calls put together from streamed deltas. What servers do differs, so a delta is joined to a
 * call by these laws, in this order:
 *
 * A1 An id that a call already has (at the same index, if both name one) means that call.
 * A2 A new id means a new call, even at a used index; unless the call at that index has no id yet.
 * A3 Without an id, the index means the latest call there; without both, the latest call at all.
 * A4 Arguments that are a complete object cannot go on: without an id, what names a tool after
 *    them is the next call. With the id, the same text again is a repetition and is dropped.
 * A5 Two entries of one delta that name tools but no ids are two calls.
 */
import type { AssembledCall } from "@troupe/contracts";
import type { CallDelta } from "./chunk.js";

interface OpenCall {
  id: string;
  index: number | undefined;
  name: string;
  arguments: string;
}

interface Part {
  readonly id: string;
  readonly index: number | undefined;
  readonly name: string;
  readonly arguments: string;
}

export class CallAssembly {
  readonly #calls: OpenCall[] = [];

  add(deltas: readonly CallDelta[]): void {
    const touched = new Set<OpenCall>();
    for (const delta of deltas) {
      const part = readPart(delta);
      let call = this.#find(part);
      if (part.id === "" && part.name !== "" && call !== undefined && touched.has(call)) call = undefined; // A5
      if (call === undefined) {
        call = { id: part.id, index: part.index, name: "", arguments: "" };
        this.#calls.push(call);
      }
      join(call, part);
      touched.add(call);
    }
  }

  /** The calls in the order in which they began; what has neither id, name nor arguments was none. */
  get calls(): readonly AssembledCall[] {
    return this.#calls
      .filter((call) => call.id !== "" || call.name !== "" || call.arguments !== "")
      .map((call) => ({ id: call.id, name: call.name, arguments: call.arguments }));
  }

  #find(part: Part): OpenCall | undefined {
    const sameIndex = (call: OpenCall): boolean =>
      part.index === undefined || call.index === undefined || call.index === part.index;
    if (part.id !== "") {
      const known = this.#calls.findLast((call) => call.id === part.id && sameIndex(call));
      if (known !== undefined) return known; // A1
      const last = this.#calls.findLast(sameIndex);
      const isItsLateId = last !== undefined && last.id === "" && !(part.name !== "" && isComplete(last.arguments));
      return isItsLateId ? last : undefined; // A2
    }
    const last =
      part.index === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === part.index);
    return last !== undefined && startsNext(last, part) ? undefined : last; // A3, A4
  }
}

function readPart(delta: CallDelta): Part {
  const text = delta.function?.arguments ?? "";
  return {
    id: delta.id === null || delta.id === undefined ? "" : String(delta.id),
    index: delta.index ?? undefined,
    name: delta.function?.name ?? "",
    arguments: typeof text === "string" ? text : JSON.stringify(text),
  };
}

function startsNext(last: OpenCall, part: Part): boolean {
  if (part.name === "") return false;
  if (isComplete(last.arguments)) return part.arguments.trim() !== "" || part.name !== last.name;
  // A name is split only before the arguments begin; another one afterwards is another call's.
  return last.arguments !== "" && part.name !== last.name;
}

function join(call: OpenCall, part: Part): void {
  if (call.id === "") call.id = part.id;
  call.index ??= part.index;
  if (call.arguments === "") call.name = joinName(call.name, part.name);
  const repeats = part.arguments !== "" && part.arguments === call.arguments && isComplete(call.arguments);
  if (!repeats) call.arguments += part.arguments; // A4
}

/** Names come whole, whole again with every chunk, growing, or split; only the last kind is appended. */
function joinName(known: string, next: string): string {
  if (next === "" || next === known) return known;
  return next.startsWith(known) ? next : known + next;
}

function isComplete(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
