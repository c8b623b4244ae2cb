import { encode, OutboxMessage, type SessionKey } from "@troupe/contracts";
import type { OutboxBell, OutboxEvent } from "@troupe/jetstream";
import { describe, expect, it } from "vitest";
import { type Channel, DEFAULT_LIMITS, DeliveryDesk, type Reply, type SendOutcome } from "../src/index.js";
import { MemoryLedger } from "./memory-ledger.js";
import { settled, VirtualClock } from "./virtual-clock.js";

const A = "webhook.a" as SessionKey;
const B = "webhook.b" as SessionKey;

/** An outbox, its channel, and any number of desks that deliver. */
class Office {
  readonly clock = new VirtualClock();
  readonly ledger = new MemoryLedger();
  readonly log: OutboxEvent[] = [];
  readonly sent: string[] = [];
  readonly acked: number[] = [];
  readonly working: number[] = [];
  readonly troubles: string[] = [];
  readonly ended: string[] = [];
  floor = 0;
  outcome: (reply: Reply) => SendOutcome | Promise<SendOutcome> = () => ({ kind: "delivered" });

  add(key: SessionKey, text: string, version = 1): OutboxEvent {
    const seq = this.log.length + 1;
    const notice = { turn: null, level: "info", text } as const;
    const message = { v: 1, id: `e${seq}`, kind: "notice", session: "x", generation: 0, notice } as const;
    const body = encode(OutboxMessage, message).replace('"v":1', `"v":${version}`);
    const event = { seq, key, text: body };
    this.log.push(event);
    return event;
  }

  remove(seq: number): void {
    const at = this.log.findIndex((event) => event.seq === seq);
    this.log.splice(at, 1);
  }

  desk(): DeliveryDesk {
    const channel: Channel = {
      name: "webhook",
      resend: "unsafe",
      listen: async () => undefined,
      preview: async () => undefined,
      send: async (reply) => {
        const outcome = await this.outcome(reply);
        if (outcome.kind === "delivered") this.sent.push(`${reply.conversation}:${reply.text}`);
        return outcome;
      },
    };
    const desk = new DeliveryDesk({
      channel,
      ledger: this.ledger,
      clock: this.clock,
      replay: async (key, after) => this.log.filter((event) => event.key === key && event.seq > after),
      whole: async (event) => event,
      exists: async (seq) => this.log.some((event) => event.seq === seq),
      beforeSend: async () => undefined,
      onEnd: (_key, { seq }, end) => this.ended.push(`${seq} ${end.kind === "settled" ? end.as : end.kind}`),
      onTrouble: (line) => this.troubles.push(line),
      limits: { ...DEFAULT_LIMITS, firstPauseMs: 10, longestPauseMs: 10 },
    });
    desk.queue = { floor: async () => this.floor };
    return desk;
  }

  bell({ seq, key }: Pick<OutboxEvent, "seq" | "key">): OutboxBell {
    return { seq, key, ack: () => this.acked.push(seq), working: () => this.working.push(seq) };
  }
}

describe("the delivery desk", () => {
  it("L1 keeps a conversation's order whatever the order of the bells", async () => {
    const office = new Office();
    const desk = office.desk();
    const events = ["one", "two", "three"].map((text) => office.add(A, text));
    for (const event of events.toReversed()) desk.ring(office.bell(event));
    await settled();
    expect(office.sent).toEqual(["a:one", "a:two", "a:three"]);
    expect(office.acked.toSorted((x, y) => x - y)).toEqual([1, 2, 3]);
    await desk.stop();
  });

  it("lets no conversation wait for another", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = ({ conversation }) =>
      conversation === "a" ? { kind: "not-sent", reason: "away", retryAfterMs: 60_000 } : { kind: "delivered" };
    desk.ring(office.bell(office.add(A, "one")));
    desk.ring(office.bell(office.add(B, "two")));
    desk.ring(office.bell(office.add(A, "three")));
    await settled();
    expect(office.sent).toEqual(["b:two"]);
    expect(office.acked).toEqual([2]);
    office.outcome = () => ({ kind: "delivered" });
    await office.clock.advance(60_000);
    expect(office.sent).toEqual(["b:two", "a:one", "a:three"]);
    await desk.stop();
  });

  it("keeps the bells of what waits from ringing elsewhere, and only those", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = () => ({ kind: "not-sent", reason: "away", retryAfterMs: 10_000 });
    desk.ring(office.bell(office.add(A, "one")));
    await office.clock.advance(3_000);
    expect(office.working).toEqual([1, 1, 1]);
    office.outcome = () => ({ kind: "delivered" });
    await office.clock.advance(10_000);
    office.working.length = 0;
    await office.clock.advance(3_000);
    expect(office.working).toEqual([]);
    await desk.stop();
  });

  it("acks what was delivered before, without sending it again", async () => {
    const office = new Office();
    const first = office.desk();
    const event = office.add(A, "one");
    first.ring(office.bell(event));
    await settled();
    first.ring(office.bell(event));
    const next = office.desk();
    next.ring(office.bell(event));
    await settled();
    expect(office.sent).toEqual(["a:one"]);
    expect(office.acked).toEqual([1, 1, 1]);
    await Promise.all([first.stop(), next.stop()]);
  });

  it("L2 does not send what was removed while it waited", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = () => ({ kind: "not-sent", reason: "away", retryAfterMs: 1_000 });
    const secret = office.add(A, "a secret");
    desk.ring(office.bell(secret));
    await settled();
    office.remove(secret.seq);
    office.outcome = () => ({ kind: "delivered" });
    await office.clock.advance(1_000);
    expect(office.sent).toEqual([]);
    expect(office.acked).toEqual([1]);
    await desk.stop();
  });

  it("goes on behind a reply that is rejected or that nobody knows about, and says so", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = ({ text }) =>
      text === "one"
        ? { kind: "rejected", reason: "left" }
        : text === "two"
          ? { kind: "unknown", reason: "cut" }
          : { kind: "delivered" };
    for (const text of ["one", "two", "three"]) desk.ring(office.bell(office.add(A, text)));
    await settled();
    expect(office.sent).toEqual(["a:three"]);
    expect(office.ended).toEqual(["1 rejected", "2 unsettled", "3 confirmed"]);
    await desk.stop();
  });

  it("waits with what only a newer version can read, and with all behind it", async () => {
    const office = new Office();
    const desk = office.desk();
    desk.ring(office.bell(office.add(A, "one", 9)));
    desk.ring(office.bell(office.add(A, "two")));
    await office.clock.advance(29_000);
    expect(office.sent).toEqual([]);
    expect(office.acked).toEqual([]);
    expect(office.troubles).toEqual(["replies of webhook.a: reply 1 is of version 9, newer than this process"]);
    await desk.stop();
  });

  it("skips what is no reply at all, and says so", async () => {
    const office = new Office();
    const desk = office.desk();
    office.log.push({ seq: 1, key: A, text: "{" });
    desk.ring(office.bell({ seq: 1, key: A }));
    desk.ring(office.bell(office.add(A, "two")));
    await settled();
    expect(office.sent).toEqual(["a:two"]);
    expect(office.acked.toSorted((x, y) => x - y)).toEqual([1, 2]);
    expect(office.troubles).toHaveLength(1);
    await desk.stop();
  });

  it("B1 B2 a process that was stopped too long acts on none of the bells it had, and on none that lay in its socket", async () => {
    const office = new Office();
    const zombie = office.desk();
    let answer: (outcome: SendOutcome) => void = () => undefined;
    office.outcome = () => new Promise((resolve) => (answer = resolve));
    for (const text of ["one", "two"]) zombie.ring(office.bell(office.add(A, text)));
    await settled();
    office.clock.freeze(20_000);
    // Meanwhile another process delivers what it finds: the first it cannot know about, the second it sends.
    office.outcome = () => ({ kind: "delivered" });
    const other = office.desk();
    for (const event of office.log) other.ring(office.bell(event));
    await settled();
    expect(office.sent).toEqual(["a:two"]);
    const third = office.add(A, "three");
    // The zombie wakes: it learns what became of its own send, and touches nothing else.
    zombie.ring(office.bell(third));
    answer({ kind: "delivered" });
    await office.clock.advance(2_000);
    expect(office.sent).toEqual(["a:two", "a:one"]);
    expect(office.ledger.records().map(({ status }) => status)).toEqual(["confirmed", "confirmed"]);
    // A bell that comes later is its own again.
    zombie.ring(office.bell(third));
    await settled();
    expect(office.sent.at(-1)).toBe("a:three");
    await Promise.all([zombie.stop(), other.stop()]);
  });

  it("stops when what is under way has ended and is recorded, and begins nothing more", async () => {
    const office = new Office();
    const desk = office.desk();
    let answer: (outcome: SendOutcome) => void = () => undefined;
    office.outcome = () => new Promise((resolve) => (answer = resolve));
    for (const text of ["one", "two"]) desk.ring(office.bell(office.add(A, text)));
    await settled();
    let stopped = false;
    const stopping = desk.stop().then(() => (stopped = true));
    await settled();
    expect(stopped).toBe(false);
    answer({ kind: "delivered" });
    await stopping;
    expect(office.sent).toEqual(["a:one"]);
    expect(office.acked).toEqual([1]);
    expect(office.ledger.records().map(({ status }) => status)).toEqual(["confirmed"]);
  });

  it("finds its place again from the channel's floor, and looks at nothing before it", async () => {
    const office = new Office();
    const desk = office.desk();
    office.add(A, "of last year");
    office.floor = 1;
    desk.ring(office.bell(office.add(A, "of today")));
    await settled();
    expect(office.sent).toEqual(["a:of today"]);
    await desk.stop();
  });
});
