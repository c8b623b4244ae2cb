import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { NatsServer } from "@troupe/testkit";
import { eventually } from "./nats-scene.js";
import { FromConsumer, type ToConsumer } from "./job-talk.js";

const SCRIPT = fileURLToPath(new URL("fixtures/consumer.ts", import.meta.url));
type Asked = Extract<FromConsumer, { ask: number }>;

/** What is to come of a question: to go on, to fail, or to be left waiting until the test decides. */
export type Reply = "go on" | "wait" | { readonly fail: string };

/** A consumer of jobs in a process of its own. */
export class JobProcess {
  readonly said: FromConsumer[] = [];
  /** By default everything goes on. */
  reply: (asked: Asked) => Reply = () => "go on";
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = once(child, "exit");
    child.on("message", (message) => this.#take(FromConsumer.parse(message)));
  }

  static async start(server: NatsServer, env: Readonly<Record<string, string>> = {}): Promise<JobProcess> {
    const { user, pass, port } = server;
    const child = fork(SCRIPT, {
      execArgv: ["--conditions=troupe-source", "--import", "tsx"],
      env: { PATH: process.env["PATH"], NATS_URL: `nats://${user}:${pass}@127.0.0.1:${port}`, ...env },
    });
    const started = new JobProcess(child);
    await eventually(() => started.said.some(({ say }) => say === "ready"), "a consumer that is ready");
    return started;
  }

  get asked(): readonly Asked[] {
    return this.said.filter((one): one is Asked => one.say === "look" || one.say === "work");
  }

  /** Kinds of events, in order. */
  events(kind: string): readonly Record<string, unknown>[] {
    return this.said.flatMap((one) => (one.say === "event" && one.event.kind === kind ? [one.event] : []));
  }

  has(say: FromConsumer["say"]): boolean {
    return this.said.some((one) => one.say === say);
  }

  /** Resolves with the newest question of this kind, once there are so many. */
  async question(say: "look" | "work", count = 1): Promise<Asked> {
    await eventually(() => this.asked.filter((one) => one.say === say).length >= count, `${say} ${count}`);
    const found = this.asked.filter((one) => one.say === say)[count - 1];
    if (found === undefined) throw new Error(`no ${say} ${count}`);
    return found;
  }

  answer({ ask }: Asked, reply: Exclude<Reply, "wait">): void {
    this.tell(reply === "go on" ? { say: "go on", ask } : { say: "fail", ask, reason: reply.fail });
  }

  tell(message: ToConsumer): void {
    if (this.#child.connected) this.#child.send(message);
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

  #take(said: FromConsumer): void {
    this.said.push(said);
    if (said.say !== "look" && said.say !== "work") return;
    const reply = this.reply(said);
    if (reply !== "wait") this.answer(said, reply);
  }
}
