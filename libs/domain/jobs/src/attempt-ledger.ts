import { decode, encode, JobAttempts, type JobDelivery, parseJobSubject, SCHEMA_VERSION } from "@troupe/contracts";
import type { StatePort } from "@troupe/kernel";

/**
 * J4 How often a job was tried, where a restart cannot forget it. Delivery counts are no substitute: naks that give a
 * job back raise them, and a consumer made anew starts them from zero.
 *
 * An attempt is opened by a fenced write before it is made and closed by another one. One that is found open ended
 * without a word: its process died of it, or was stopped for too long, and it counts as failed. Who is refused a write
 * is no longer the one who has the job, and says nothing more about it.
 */
export type Opening =
  | { readonly kind: "open"; readonly failures: number }
  /** The pause after the last failure is not over: its delayed nak was forgotten. */
  | { readonly kind: "early"; readonly leftMs: number }
  | { readonly kind: "exhausted"; readonly reason: string }
  | { readonly kind: "fenced" };

export interface Closing {
  readonly failures: number;
  /** Wall clock, milliseconds. */
  readonly notBefore: number;
  readonly reason: string;
}

const WITHOUT_A_WORD = "the process that worked on it ended without a word";

export class AttemptLedger {
  readonly #port: StatePort;
  readonly #key: string;
  readonly #job: string;
  #revision = 0;

  constructor(port: StatePort, { subject, seq, at }: JobDelivery) {
    const address = parseJobSubject(subject);
    if (address === undefined) throw new TypeError(`${subject} is no job`);
    this.#port = port;
    this.#key = `${address.kind}.${address.key}`;
    this.#job = `${seq}@${at}`;
  }

  async open(
    now: number,
    limits: { readonly maxAttempts: number; readonly longestBackoffMs: number },
  ): Promise<Opening> {
    const stored = await this.#port.read(this.#key, "leader");
    this.#revision = stored?.revision ?? 0;
    const found = this.#read(stored?.text);
    const failures = (found?.failures ?? 0) + (found?.isOpen === true ? 1 : 0);
    const reason = found?.isOpen === true ? WITHOUT_A_WORD : (found?.reason ?? "");
    if (failures >= limits.maxAttempts) return { kind: "exhausted", reason };
    // Another machine's clock may be wrong: no pause was longer than this.
    const leftMs = Math.min((found?.notBefore ?? 0) - now, limits.longestBackoffMs);
    if (leftMs > 0) return { kind: "early", leftMs };
    const isMine = await this.#write({ failures, isOpen: true, notBefore: 0, reason });
    return isMine ? { kind: "open", failures } : { kind: "fenced" };
  }

  /** False: another process has opened an attempt since. */
  close(closing: Closing): Promise<boolean> {
    return this.#write({ ...closing, isOpen: false });
  }

  #read(text: string | undefined): JobAttempts | undefined {
    if (text === undefined) return undefined;
    const read = decode(JobAttempts, text);
    // Of another message, or of no form that is known: about this one nothing is recorded.
    return read.kind === "ok" && read.message.job === this.#job ? read.message : undefined;
  }

  async #write(record: Omit<JobAttempts, "v" | "job">): Promise<boolean> {
    const text = encode(JobAttempts, { v: SCHEMA_VERSION, job: this.#job, ...record });
    const outcome = await this.#port.write(this.#key, text, this.#revision);
    if (outcome.kind !== "stored") return false;
    this.#revision = outcome.revision;
    return true;
  }
}
