import { JsonFields } from "./json-fields.js";

/** The one answer to one message. */
export interface Final {
  readonly turn: string;
  readonly kind: string;
  readonly text: string;
  readonly index: number;
  readonly retryable: boolean;
}

export function readFinal(value: unknown): Final {
  return finalOf(new JsonFields(value));
}

function finalOf(fields: JsonFields): Final {
  return {
    turn: fields.text("turn"),
    kind: fields.text("kind"),
    text: fields.text("text"),
    index: fields.number("index"),
    retryable: fields.objectOrNull("error")?.flag("retryable") ?? false,
  };
}

/** What sending a message gave. */
export interface Accepted {
  readonly turn: string;
  readonly final: Final | null;
}

export function readAccepted(value: unknown): Accepted {
  const fields = new JsonFields(value);
  const final = fields.objectOrNull("final");
  return { turn: fields.text("turn"), final: final === null ? null : finalOf(final) };
}

export interface SessionState {
  readonly generation: number;
  readonly messageCount: number;
  readonly queued: number;
  /** The turn that runs or waits. */
  readonly turn: string | null;
}

export function readSessionState(value: unknown): SessionState {
  const fields = new JsonFields(value);
  return {
    generation: fields.number("generation"),
    messageCount: fields.number("messageCount"),
    queued: fields.number("queued", 0),
    turn: fields.objectOrNull("turn")?.text("id") ?? null,
  };
}

export interface SessionLine {
  readonly session: string;
  readonly messageCount: number;
  readonly updatedAt: number;
  readonly busy: boolean;
}

export interface SessionPage {
  readonly sessions: readonly SessionLine[];
  readonly next: string | null;
}

export function readSessionPage(value: unknown): SessionPage {
  const fields = new JsonFields(value);
  return { sessions: fields.list("sessions", readSessionLine), next: fields.textOrNull("next") };
}

function readSessionLine(value: unknown): SessionLine {
  const fields = new JsonFields(value);
  return {
    session: fields.text("session"),
    messageCount: fields.number("messageCount"),
    updatedAt: Date.parse(fields.text("updatedAt")),
    busy: fields.objectOrNull("turn") !== null,
  };
}
