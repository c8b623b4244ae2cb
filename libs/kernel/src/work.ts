import type { DecodedMail, Input } from "./actor.js";
import type { Cursors, ListedRun } from "./entry.js";
import type { MailItem } from "./ports.js";

/**
 * What an activation has to handle: mail, and what came of runs. Both have a name in the list of
 * attempts (K11), and a bell that what follows from them lives under (K7).
 */
export type Work<M, R, O> = MailWork<M> | RunWork<R, O>;

export interface MailWork<M> {
  readonly kind: "mail";
  readonly name: string;
  readonly bell: number;
  readonly item: MailItem;
  readonly read: DecodedMail<M>;
  /** The cursor that it is handled by, in order; null for `work` and `self` mail (K2). */
  readonly lane: Exclude<keyof Cursors, "cut"> | null;
  /** What `work` and `self` mail answers, by the name that the state lists. */
  readonly answers?: string | undefined;
  /** Why it is a dead letter. */
  readonly fault?: string | undefined;
}

export interface RunWork<R, O> {
  readonly kind: "runs";
  readonly name: string;
  readonly bell: number | null;
  /** The runs that are over with it. */
  readonly runs: readonly ListedRun<R>[];
  readonly input: Input<never, R, O>;
  /** Why nothing came of the run: a defect of the runner's, for `onPoison` at once. */
  readonly fault?: string | undefined;
}

export function mailWork<M>(item: MailItem, read: DecodedMail<M>): MailWork<M> {
  const { seq, origin } = item;
  const lane = laneOf(item, read);
  const accepted = lane === null ? "answer" : "ok";
  const answers = lane === null && read.kind === "answer" ? read.answers : undefined;
  const refusal = read.kind === "invalid" ? read.reason : `not accepted from "${origin}"`;
  const fault = read.kind === accepted || read.kind === "newer" ? undefined : refusal;
  return { kind: "mail", name: `${origin}:${seq}`, bell: seq, item, read, lane, answers, fault };
}

/** Mail that cannot be read counts as user mail: it is passed over in order. */
function laneOf<M>({ origin }: MailItem, read: DecodedMail<M>): MailWork<M>["lane"] {
  if (origin === "ops") return "ops";
  if (origin !== "in") return null;
  return read.kind === "ok" && read.lane !== "user" ? "control" : "user";
}

export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

export function resultWork<R, O>(run: ListedRun<R>, outcome: O): RunWork<R, O> {
  const { id, bell, ref, body } = run;
  return { kind: "runs", name: id, bell, runs: [run], input: { kind: "result", run: { ref, body }, outcome } };
}

export function resumedWork<R, O>(runs: readonly ListedRun<R>[], fault?: string): RunWork<R, O> {
  const name = `resumed:${runs.map((run) => run.id).join(",")}`;
  const notes = runs.map(({ ref, body }) => ({ ref, body }));
  return { kind: "runs", name, bell: runs[0]?.bell ?? null, runs, input: { kind: "resumed", runs: notes }, fault };
}
