import type { Actor, DecodedMail, Decision, Input, Lane } from "../actor.js";
import type { Offloaded, PublishEffect, RunEffect, Weight } from "../actor.js";
import type { MailItem } from "../ports.js";

/**
 * A small actor that keeps a log of all that it was asked to do, so that a simulation can tell from
 * the final state whether every mail was handled once, in order, and answered once.
 *
 * Mail is text: `u` answered by one run, `v` by two runs in a row, `t` armed with a timer and
 * answered when it fires, `s` like `u` with a side effect, `c` cancel, `r` reset, `d` other control
 * mail, `x` throws, `y` cannot be read, `z` ends its process, `w` like `u` but throws when it is
 * resumed, `h` like `u` but never ends by itself. A number behind it names the mail.
 */
export interface SimFields {
  readonly log: readonly string[];
  /** Names of sealed pieces of the log, oldest first (K12). */
  readonly sealed: readonly string[];
  readonly active: string | null;
  readonly queued: readonly string[];
  /** Which third writers have written (K9). */
  readonly third: readonly string[];
}

export interface SimRun {
  readonly mail: string;
  readonly step: number;
}

export interface SimOutcome {
  readonly mail: string;
  readonly epoch: number;
}

type SimInput = Input<string, SimRun, SimOutcome>;
type SimDecision = Decision<SimFields, SimRun>;

const QUEUE_LIMIT = 2;
/** Lines of the log beyond which the older ones are sealed. */
const SEAL_ABOVE = 4;

const LANES: Readonly<Record<string, Lane>> = { c: "cut", r: "cut", d: "control" };

/** `die` ends the process that the actor lives in. */
export function simActor(die: () => void = () => undefined): Actor<SimFields, string, SimRun, SimOutcome> {
  const receive = (fields: SimFields, input: SimInput): SimDecision => {
    if (input.kind === "mail" && input.mail.startsWith("z")) die();
    return decide(fields, input);
  };
  return { ...ACTOR, receive };
}

const ACTOR: Actor<SimFields, string, SimRun, SimOutcome> = {
  schema: 1,
  initial: () => ({ log: [], sealed: [], active: null, queued: [], third: [] }),
  decodeFields: (value) => value as SimFields,
  decodeMail: (item): DecodedMail<string> => {
    if (item.origin === "self") return { kind: "answer", mail: item.text, answers: item.text };
    if (item.text.startsWith("y")) return { kind: "invalid", reason: "unreadable" };
    return { kind: "ok", mail: item.text, lane: LANES[item.text.charAt(0)] ?? "user" };
  },
  seal: ({ log, ...fields }) => {
    if (log.length <= SEAL_ABOVE) return undefined;
    const [text, rest] = [JSON.stringify(log.slice(0, SEAL_ABOVE)), log.slice(SEAL_ABOVE)];
    const name = `segment of ${text}`;
    return { fields: { ...fields, log: rest, sealed: [...fields.sealed, name] }, segments: [{ name, text }] };
  },
  offload,
  full: (fields) => fields.queued.length >= QUEUE_LIMIT,
  expects: () => false,
  receive: decide,
  onPoison: giveUp,
  deadLetter: (item: MailItem, reason) => ({ subject: "dead", body: { mail: item.text, reason } }),
  timerSubject: (timer) => `timer.k.${timer}`,
  selfSubject: () => "mail.k.self",
  timerBody: (body) => ({ body }),
};

function decide(fields: SimFields, input: SimInput): SimDecision {
  switch (input.kind) {
    case "mail":
      return onMail(fields, input.mail, input.cut);
    case "result":
      return onResult(fields, input.run.body, input.outcome);
    case "resumed":
      if (input.runs.some((run) => run.body.mail.startsWith("w"))) throw new Error("cannot be resumed");
      return {
        fields: logged(fields, ...input.runs.map((run) => `resumed ${run.body.mail}`)),
        run: input.runs.map((run) => runOf(run.body.mail, run.body.step)),
      };
    case "timer":
      return finish(logged(fields, `timer ${input.ref}`), input.ref, "answer");
  }
}

function onMail(fields: SimFields, mail: string, cut: boolean): SimDecision {
  const kind = mail.charAt(0);
  if (kind === "x") throw new Error("poison");
  const seen = logged(fields, `mail ${mail}`);
  if (kind === "d") return { fields: seen };
  if (kind === "c" || kind === "r") return endAll(seen);
  if (cut) return { fields: logged(seen, `end ${mail}`), publish: [final(mail, "cancelled")] };
  if (fields.active !== null) return { fields: { ...seen, queued: [...seen.queued, mail] } };
  return begin(seen, mail);
}

function endAll(fields: SimFields): SimDecision {
  const ended = fields.active === null ? fields.queued : [fields.active, ...fields.queued];
  return {
    fields: { ...logged(fields, ...ended.map((mail) => `end ${mail}`)), active: null, queued: [] },
    publish: ended.map((mail) => final(mail, "cancelled")),
    abort: fields.active === null ? [] : [fields.active],
    timers: fields.active === null ? [] : [{ kind: "disarm", ref: fields.active }],
  };
}

function begin(fields: SimFields, mail: string): SimDecision {
  const next = { ...fields, active: mail };
  const accepted: PublishEffect = { subject: "notice", body: { mail } };
  if (mail.startsWith("t"))
    return { fields: next, publish: [accepted], timers: [{ kind: "arm", ref: mail, at: 5_000, body: mail }] };
  return { fields: next, publish: [accepted], run: [runOf(mail, 1)] };
}

function onResult(fields: SimFields, run: SimRun, outcome: SimOutcome): SimDecision {
  const seen = logged(fields, `result ${run.mail} ${run.step} ${outcome.epoch}`);
  if (run.mail.startsWith("v") && run.step === 1) return { fields: seen, run: [runOf(run.mail, 2)] };
  return finish(seen, run.mail, "answer");
}

function finish(fields: SimFields, mail: string, how: string): SimDecision {
  const ended = { ...logged(fields, `end ${mail}`), active: null };
  const [next, ...queued] = ended.queued;
  if (next === undefined) return { fields: ended, publish: [final(mail, how)] };
  const begun = begin({ ...ended, queued }, next);
  return { ...begun, publish: [final(mail, how), ...(begun.publish ?? [])] };
}

function giveUp(fields: SimFields, input: SimInput): SimDecision {
  switch (input.kind) {
    case "mail":
      return { fields: logged(fields, `poison ${input.mail}`), publish: [final(input.mail, "error")] };
    case "result":
      return finish(fields, input.run.body.mail, "error");
    case "resumed":
      return finish(fields, input.runs[0]?.body.mail ?? "?", "error");
    case "timer":
      return finish(fields, input.ref, "error");
  }
}

function logged(fields: SimFields, ...lines: string[]): SimFields {
  return { ...fields, log: [...fields.log, ...lines] };
}

function runOf(mail: string, step: number): RunEffect<SimRun> {
  return { ref: mail, sideEffect: mail.startsWith("s"), body: { mail, step } };
}

/** The finals of `v` are too large for a message (K12). */
function offload({ fields, outstanding }: Weight<SimFields, SimRun>): Offloaded<SimFields, SimRun> | undefined {
  const isLarge = (x: (typeof outstanding)[number]) =>
    x.kind === "publish" && x.subject === "final" && String(x.body["mail"]).startsWith("v") && !("blob" in x.body);
  if (!outstanding.some(isLarge)) return undefined;
  const blobs: { name: string; text: string }[] = [];
  const light = outstanding.map((x) => {
    if (x.kind !== "publish" || !isLarge(x)) return x;
    const name = `blob of ${String(x.body["mail"])}`;
    blobs.push({ name, text: JSON.stringify(x.body) });
    return { ...x, body: { ...x.body, blob: name } };
  });
  return { fields, outstanding: light, blobs };
}

function final(mail: string, how: string): PublishEffect {
  return { subject: "final", body: { mail, how } };
}
