import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SessionKey } from "@troupe/contracts";
import type { JobOutcome, Look } from "@troupe/jobs";
import type { NatsServer } from "@troupe/testkit";
import { z } from "zod";
import type { ConversationState } from "./conversation-state.js";
import { eventually } from "./nats-scene.js";

const SCRIPT = fileURLToPath(new URL("fixtures/consumer.mjs", import.meta.url));

const Key = z.string().transform((key) => key as SessionKey);
const Said = z.discriminatedUnion("say", [
  z.object({ say: z.literal("ready") }),
  z.object({ say: z.literal("look"), ask: z.number(), key: Key }),
  z.object({ say: z.literal("work"), ask: z.number(), key: Key, piece: z.string() }),
  z.object({ say: z.literal("aborted") }),
  z.object({ say: z.literal("event"), event: z.looseObject({ kind: z.string(), subject: z.string() }) }),
  z.object({ say: z.literal("drained") }),
]);
type Said = z.infer<typeof Said>;
type Work = Extract<Said, { say: "work" }>;

/** What the process asked for, with a look's answer: what it will be told, as of when it asked. */
export type Asked = Work | (Extract<Said, { say: "look" }> & { readonly look: Look });

/** What is to come of a question: to go on, to fail, or to be left waiting until the test decides. */
export type Reply = "go on" | "wait" | { readonly fail: string };

export interface JobProcessOptions {
  readonly server: NatsServer;
  readonly conversations: ConversationState;
  readonly env?: Readonly<Record<string, string>>;
}

/** A consumer of jobs in a process of its own, which looks and works through the test. */
export class JobProcess {
  readonly said: Said[] = [];
  readonly asked: Asked[] = [];
  /** By default everything goes on. */
  reply: (asked: Asked) => Reply = () => "go on";
  readonly #child: ChildProcess;
  readonly #conversations: ConversationState;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess, conversations: ConversationState) {
    this.#child = child;
    this.#conversations = conversations;
    this.#exited = once(child, "exit");
    child.on("message", (message) => void this.#take(Said.parse(message)));
  }

  static async start({ server, conversations, env = {} }: JobProcessOptions): Promise<JobProcess> {
    const { user, pass, port } = server;
    const child = fork(SCRIPT, { execArgv: [], env: { NATS_URL: `nats://${user}:${pass}@127.0.0.1:${port}`, ...env } });
    const started = new JobProcess(child, conversations);
    await eventually(() => started.has("ready"), "a consumer that is ready");
    return started;
  }

  /** Events of a kind, in order. */
  events(kind: string): readonly Record<string, unknown>[] {
    return this.said.flatMap((one) => (one.say === "event" && one.event.kind === kind ? [one.event] : []));
  }

  has(say: Said["say"]): boolean {
    return this.said.some((one) => one.say === say);
  }

  /** Resolves with that many'th question of this kind. */
  async question(say: Asked["say"], count = 1): Promise<Asked> {
    const all = (): Asked[] => this.asked.filter((one) => one.say === say);
    await eventually(() => all().length >= count, `${say} ${count}`);
    const found = all()[count - 1];
    if (found === undefined) throw new Error(`no ${say} ${count}`);
    return found;
  }

  async answer(asked: Asked, reply: Exclude<Reply, "wait">): Promise<void> {
    this.#tell({ say: "answer", ask: asked.ask, answer: await this.#answerTo(asked, reply) });
  }

  drain(graceMs: number): void {
    this.#tell({ say: "drain", graceMs });
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL");
    await this.#exited;
  }

  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  #tell(message: object): void {
    if (this.#child.connected) this.#child.send(message);
  }

  async #answerTo(asked: Asked, reply: Exclude<Reply, "wait">): Promise<Look | JobOutcome> {
    if (reply !== "go on") return { kind: "retry", reason: reply.fail };
    if (asked.say === "look") return asked.look;
    return { kind: (await this.#conversations.consolidate(asked.key, asked.piece)) ? "done" : "stale" };
  }

  async #take(said: Said): Promise<void> {
    this.said.push(said);
    if (said.say !== "look" && said.say !== "work") return;
    const asked = said.say === "work" ? said : { ...said, look: await this.#conversations.look(said.key) };
    this.asked.push(asked);
    const reply = this.reply(asked);
    if (reply !== "wait") await this.answer(asked, reply);
  }
}
