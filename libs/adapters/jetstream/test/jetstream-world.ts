import {
  encodeToken,
  jobSubject,
  mailSubject,
  outboxSubject,
  type SessionKey,
  STREAM,
  timerSubject,
} from "@troupe/contracts";
import type { Bell } from "@troupe/kernel";
import type { PortWorld } from "@troupe/kernel/testing";
import { bellNumber } from "../src/bell-number.js";
import { wireOf } from "../src/bus.js";
import { type Bus, mailPort, ownerPort, publishPort, ringBells, statePort } from "../src/index.js";
import { readBatch } from "../src/stored-message.js";
import { publishOnce } from "../src/stored-publish.js";
import { headersOf } from "../src/wire.js";
import { eventually } from "./condition.js";

/** The ports on a real server, for the laws that all implementations share. */
export async function jetStreamWorld(bus: Bus): Promise<PortWorld & { stop(): Promise<void> }> {
  const wire = wireOf(bus);
  const bells = new BellRack();
  const ringing = await ringBells(bus, {
    actor: "session",
    maxInFlight: 4_000,
    onBell: (bell) => bells.add(bell),
    onTrouble: () => undefined,
  });
  const owner = ownerPort(bus);
  return {
    state: statePort(bus),
    mail: mailPort(bus, "session"),
    publish: publishPort(bus),
    owner,
    subjects: {
      outbox: (key) => outboxSubject(key as SessionKey),
      job: (key) => jobSubject("embedding", key as SessionKey),
      timer: (key, timer) => timerSubject("session", key as SessionKey, timer),
      self: (key) => mailSubject("session", key as SessionKey, "self"),
    },
    keyOf: (conversation) => {
      const token = encodeToken(conversation);
      if (!token.ok) throw new Error(token.reason);
      return `http.${token.token}`;
    },
    putMail: async (key, origin, body) => {
      const subject = mailSubject("session", key as SessionKey, origin);
      const { seq } = await publishOnce(wire, { subject, body, headers: headersOf({}) });
      return bellNumber({ stream: origin === "self" ? STREAM.timers : STREAM.mail, seq });
    },
    ring: (seq) => bells.next(seq),
    settle: async (seq) => (await bells.any(seq)).ack(),
    published: async (subject) => {
      const { messages } = await readBatch(wire, { stream: streamOf(subject), subject, from: 1, limit: 500 });
      return messages.map((message) => JSON.parse(message.text));
    },
    serve: (processId, take) => owner.serve(processId, take),
    now: () => Date.now(),
    until: (condition) => eventually(condition),
    stop: () => ringing.stop(),
  };
}

function streamOf(subject: string): string {
  if (subject.startsWith("outbox.")) return STREAM.outbox;
  return subject.startsWith("job.") ? STREAM.jobs : STREAM.timers;
}

/** Deliveries by the number of their bell. */
class BellRack {
  readonly #fresh = new Map<number, Bell[]>();
  readonly #latest = new Map<number, Bell>();

  add(bell: Bell): void {
    const { seq } = bell.item;
    this.#fresh.set(seq, [...(this.#fresh.get(seq) ?? []), bell]);
    this.#latest.set(seq, bell);
  }

  /** The next delivery that was not asked for yet. */
  async next(seq: number): Promise<Bell> {
    await eventually(() => (this.#fresh.get(seq)?.length ?? 0) > 0, `the bell of ${seq}`);
    const bell = this.#fresh.get(seq)?.shift();
    if (bell === undefined) throw new Error(`no bell of ${seq}`);
    return bell;
  }

  async any(seq: number): Promise<Bell> {
    await eventually(() => this.#latest.has(seq), `the bell of ${seq}`);
    const bell = this.#latest.get(seq);
    if (bell === undefined) throw new Error(`no bell of ${seq}`);
    return bell;
  }
}
