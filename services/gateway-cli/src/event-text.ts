import type { FinalAnswer } from "./gateway-answer.js";
import type { GatewayEvent } from "./gateway-event.js";

const ARGUMENTS_SHOWN = 300;

type DataOf<K extends GatewayEvent["kind"]> = Extract<GatewayEvent, { kind: K }>["data"];

/** The line for a tool's progress. */
export function toolText({ name, status, summary }: DataOf<"tool">): string {
  const outcome = { started: "…", done: "", error: "failed", denied: "denied" }[status] ?? `${status} outcome`;
  return ["tool", name, outcome, summary].filter((part) => part !== "").join(" ");
}

/** The line for a delegated task's progress. */
export function taskText({ taskIndex, profile, status }: DataOf<"task">): string {
  return `task ${taskIndex + 1} (${profile}) ${status}`;
}

/** The line for an approval that is asked for or has been settled. */
export function approvalText({ id, tool, arguments: args, explanation, status }: DataOf<"approval">): string {
  if (status !== "pending") return `approval ${id} for ${tool}: ${status}`;
  const shown = JSON.stringify(args) ?? "";
  const cut = shown.length > ARGUMENTS_SHOWN ? `${shown.slice(0, ARGUMENTS_SHOWN)}…` : shown;
  const why = explanation === null || explanation === "" ? "" : ` (${explanation})`;
  return `approval wanted for ${tool} ${cut}${why}: decide ${id} in the console`;
}

/** Why a turn has no answer, in one line; undefined when it has one. */
export function reasonWithoutAnswer({ kind, text, error, mergedInto }: FinalAnswer): string | undefined {
  switch (kind) {
    case "answer":
      return undefined;
    case "error":
      return `${error === null ? "error" : `error (${error.code})`}: ${text || "the turn failed"}`;
    case "cancelled":
      return /^(cancelled\.?)?$/i.test(text) ? "cancelled" : `cancelled: ${text}`;
    case "merged":
      return `taken into the turn that is already running${mergedInto === null ? "" : ` (${mergedInto})`}`;
  }
}
