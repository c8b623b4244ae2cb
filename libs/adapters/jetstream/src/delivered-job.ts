import { setTimeout as delay } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";
import { HEADER, type JobDelivery, STREAM } from "@troupe/contracts";
import { ackInfo, nakText } from "./delivered-bell.js";
import { readFromLeader } from "./stored-message.js";
import { REQUEST_TIMEOUT_MS, textOf, type Wire } from "./wire.js";
import { WireError } from "./wire-error.js";

const LOOK_AGAIN_MS = 20;

/**
 * One delivery of a job. Other than a bell's, its acks are confirmed: who has done a job has to know from when on the
 * next one of its subject is taken.
 */
export class DeliveredJob implements JobDelivery {
  readonly subject: string;
  readonly seq: number;
  readonly at: number;
  readonly text: string;
  readonly trace: string | undefined;
  readonly #wire: Wire;
  readonly #ackSubject: string;
  #onDone: (() => void) | undefined;
  #acked = false;

  private constructor(wire: Wire, message: Msg, place: { readonly seq: number; readonly at: number }) {
    this.subject = message.subject;
    this.seq = place.seq;
    this.at = place.at;
    this.text = textOf(message);
    this.trace = message.headers?.get(HEADER.trace) || undefined;
    this.#wire = wire;
    this.#ackSubject = message.reply ?? "";
  }

  /** Reads a message delivered by a consumer; undefined when it is none. */
  static in(wire: Wire, message: Msg, onDone?: () => void): DeliveredJob | undefined {
    const info = ackInfo(message.reply ?? "");
    if (info === undefined) return undefined;
    const job = new DeliveredJob(wire, message, info);
    job.#onDone = onDone;
    return job;
  }

  async ack(): Promise<void> {
    if (!this.#acked) await this.#wire.ask({ subject: this.#ackSubject, payload: "+ACK" });
    this.#acked = true;
    await this.#gone();
    this.letGo();
  }

  nak(delayMs: number): void {
    if (!this.#acked) this.#wire.tell(this.#ackSubject, nakText(delayMs));
    this.letGo();
  }

  async working(): Promise<void> {
    await this.#wire.ask({ subject: this.#ackSubject, payload: "+WPI" });
  }

  letGo(): void {
    const done = this.#onDone;
    this.#onDone = undefined;
    done?.();
  }

  /** With replicas the stream removes a message a moment after its ack was accepted; until then its subject is taken. */
  async #gone(): Promise<void> {
    const deadline = performance.now() + REQUEST_TIMEOUT_MS;
    for (;;) {
      const found = await readFromLeader(this.#wire, STREAM.jobs, { seq: this.seq });
      // A stream that was made anew counts from 1 again.
      if (found === null || found.subject !== this.subject || found.at !== this.at) return;
      if (performance.now() > deadline) throw new WireError("timeout", this.#ackSubject);
      await delay(LOOK_AGAIN_MS);
    }
  }
}
