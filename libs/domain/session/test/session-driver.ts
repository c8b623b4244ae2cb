import {
  digestOf,
  type Final,
  type LogMessage,
  type ModelMessage,
  OutboxMessage,
  type SessionFields,
  type SessionKey,
  type SessionMail,
  turnIdOf,
} from "@troupe/contracts";
import type { Decision, Input } from "@troupe/kernel";
import { defineTool, echo, now, Toolbox } from "@troupe/tools";
import { z } from "zod";
import { type SessionActor, sessionActor, type SessionOutcome, type SessionRun, type TurnRules } from "../src/index.js";

/** A tool that must not be done twice. */
const charge = defineTool({
  name: "charge",
  description: "Charges an account.",
  input: z.strictObject({}),
  isIdempotent: false,
  timeoutMs: 1_000,
  run: () => Promise.resolve({ content: "charged", isError: false }),
});

export const KEY = "http.a" as SessionKey;

export const RULES: TurnRules = {
  limits: { maxSteps: 5, deadlineMs: 60_000, maxTokens: 10_000, noticeMs: 30_000 },
  toolbox: new Toolbox([now, echo, charge]),
  secondMessage: "queue",
  introduction: null,
  windowTokens: 60_000,
};

/** Drives a session actor as the kernel would, one input after the other, and keeps what it published. */
export class SessionDriver {
  readonly actor: SessionActor;
  fields: SessionFields;
  runs: { readonly ref: string; readonly body: SessionRun }[] = [];
  readonly published: OutboxMessage[] = [];
  at = 1_000;
  #seq = 0;

  constructor(rules: Partial<TurnRules> = {}) {
    this.actor = sessionActor(KEY, { ...RULES, ...rules });
    this.fields = this.actor.initial(this.at);
  }

  user(messageId: string, text = messageId, extra: { cut?: boolean; introduce?: boolean } = {}): string {
    const { cut = false, ...rest } = extra;
    const turn = turnIdOf(KEY, messageId);
    const mail = { kind: "user", turn, messageId, digest: digestOf(text), text, principal: "owner", ...rest } as const;
    this.mail({ v: 1, id: messageId, ...mail }, cut);
    return turn;
  }

  control(kind: "cancel" | "reset" | "erase"): void {
    this.mail({ v: 1, id: `c${this.#seq}`, kind, principal: "owner" });
  }

  mail(mail: SessionMail, cut = false): void {
    this.#seq += 1;
    this.give({ kind: "mail", seq: this.#seq, origin: "in", at: this.at, mail, cut });
  }

  /** The run of this kind comes to an end. */
  end(kind: SessionRun["kind"], outcome: SessionOutcome): void {
    const run = this.runs.find((x) => x.body.kind === kind);
    if (run === undefined) throw new Error(`no ${kind} is under way: ${this.runs.map((x) => x.ref).join(", ")}`);
    this.endRun(run.ref, outcome);
  }

  endRun(ref: string, outcome: SessionOutcome): void {
    const run = this.runs.find((x) => x.ref === ref);
    if (run === undefined) throw new Error(`no run ${ref}`);
    this.runs = this.runs.filter((x) => x !== run);
    this.give({ kind: "result", run, outcome });
  }

  answer(text: string, calls: readonly { id?: string; name: string; args?: string }[] = [], tokens = 10): void {
    this.end("infer", {
      kind: "model",
      outcome: {
        kind: "answer",
        text,
        calls: calls.map(({ id = "", name, args = "{}" }) => ({ id, name, arguments: args })),
        finish: calls.length > 0 ? "tool_calls" : "stop",
        usage: { inputTokens: tokens, outputTokens: 0 },
        model: "m",
      },
    });
  }

  /** Another process takes over: all that was under way has an unknown outcome. */
  crash(): void {
    const runs = this.runs;
    this.runs = [];
    if (runs.length > 0) this.give({ kind: "resumed", runs });
  }

  give(input: Input<SessionMail, SessionRun, SessionOutcome>): void {
    this.at += 1;
    this.#apply(this.actor.receive(this.fields, input, this.at));
  }

  #apply(decision: Decision<SessionFields, SessionRun>): void {
    const { fields, run = [], abort = [], publish = [] } = decision;
    // What is stored is read again at the next activation.
    this.fields = this.actor.decodeFields(JSON.parse(JSON.stringify(fields)), 1);
    this.runs = [...this.runs.filter((x) => !abort.includes(x.ref)), ...run];
    const refs = this.runs.map((x) => x.ref);
    if (new Set(refs).size < refs.length) throw new Error(`two runs of one name: ${refs.join(", ")}`);
    for (const effect of publish) {
      if (effect.subject.startsWith("outbox.")) this.published.push(OutboxMessage.parse({ id: "x", ...effect.body }));
    }
  }

  get finals(): Final[] {
    return this.published.flatMap((message) => (message.kind === "final" ? [message.final] : []));
  }

  finalOf(turn: string): Final | undefined {
    return this.finals.find((final) => final.turn === turn);
  }

  get log(): readonly LogMessage[] {
    return this.fields.log.tail;
  }

  get roles(): string {
    return this.log.map((message) => message.role).join(" ");
  }

  /** The log as a provider would get it. */
  get asked(): ModelMessage[] {
    return this.log.map(({ turn: _turn, at: _at, ...message }) => message as ModelMessage);
  }
}
