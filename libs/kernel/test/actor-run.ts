import { type Actor, type Bell, Host, HOST_DEFAULTS, type KernelEvent } from "../src/index.js";
import type { BlobPort, RunPort, StatePort } from "../src/index.js";
import { MemoryPorts } from "../src/testing/index.js";

export type Write = StatePort["write"];

/** A host of one process on in-memory ports, with a log of what the kernel asked and reported. */
export class ActorRun<F, M, R, O> {
  readonly ports = new MemoryPorts();
  readonly events: KernelEvent[] = [];
  /** Port calls that take a round trip, in order. */
  readonly calls: string[] = [];
  readonly host: Host<F, M, R, O>;

  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  /** `faulty`: puts something between the kernel and the store. `blobs`: a store of large texts other than the one in memory. */
  constructor(
    actor: Actor<F, M, R, O>,
    runs: RunPort<F, R, O>,
    faulty = (write: Write): Write => write,
    blobs: BlobPort = this.ports.blobs,
  ) {
    const { state, mail, publish, owner } = this.ports;
    const { calls } = this;
    const counted = <A extends unknown[], T>(name: string, port: (...args: A) => Promise<T>) => {
      return (...args: A): Promise<T> => {
        calls.push(name);
        return port(...args);
      };
    };
    this.host = new Host<F, M, R, O>({
      actorOf: () => actor,
      processId: "p",
      options: HOST_DEFAULTS,
      ports: {
        state: {
          read: counted("state read", state.read),
          write: counted("commit", faulty(state.write)),
        },
        mail: { ...mail, read: counted("mail read", mail.read), waiting: counted("waiting", mail.waiting) },
        segments: { create: counted("segment", this.ports.segments.create) },
        blobs: { create: counted("blob", (name: string, text: string) => blobs.create(name, text)) },
        publish: { publish: counted("publish", publish.publish) },
        owner,
        runs,
        clock: {
          now: () => this.ports.now(),
          monotonic: () => this.ports.now(),
          after: (ms, callback) => this.#after(ms, callback),
        },
        observe: (event) => this.events.push(event),
      },
    });
  }

  #after(ms: number, callback: () => void): () => void {
    const timer = { at: this.ports.now() + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((x) => x !== timer);
    };
  }

  #fireTimers(): void {
    const due = this.#timers.filter((x) => x.at <= this.ports.now());
    this.#timers = this.#timers.filter((x) => !due.includes(x));
    for (const { callback } of due) callback();
  }

  /** Virtual time goes on by this much, and by a little more. */
  async pass(ms: number): Promise<void> {
    const endsAt = this.ports.now() + ms;
    await this.ports.until(async () => this.ports.now() >= endsAt);
  }

  /** Virtual time goes on, and the host's timers with it, until this holds. */
  until(condition: () => boolean): Promise<void> {
    return this.ports.until(async () => {
      this.#fireTimers();
      await new Promise((resolve) => setImmediate(resolve));
      return condition();
    });
  }

  /** Rings for this mail and waits, by default until the host has nothing left to do; how the bell was answered. */
  async ring(seq: number, end = () => this.host.size === 0): Promise<string[]> {
    const answers: string[] = [];
    const bell = await this.ports.ring(seq);
    const heard: Bell = {
      ...bell,
      ack: () => {
        answers.push("ack");
        bell.ack();
      },
      nak: (delayMs) => answers.push(`nak ${delayMs}`),
    };
    this.host.ring(heard);
    await this.until(end);
    return answers;
  }
}
