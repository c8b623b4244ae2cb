import { encode, OutboxMessage, type SessionKey } from "@troupe/contracts";
import type { OutboxBell, OutboxEvent } from "@troupe/jetstream";
import { type Channel, DEFAULT_LIMITS, DeliveryDesk, type Reply, type SendOutcome } from "../src/index.js";
import { MemoryLedger } from "./memory-ledger.js";
import { VirtualClock } from "./virtual-clock.js";

/** An outbox, its channel, and any number of desks that deliver. */
export class Office {
  readonly clock = new VirtualClock();
  readonly ledger = new MemoryLedger();
  readonly log: OutboxEvent[] = [];
  readonly sent: string[] = [];
  readonly acked: number[] = [];
  readonly working: number[] = [];
  /** For how long bells were given back. */
  readonly given: number[] = [];
  readonly troubles: string[] = [];
  /** What was moved to DEAD, and what was told to be of a newer version. */
  readonly buried: number[] = [];
  readonly newer: string[] = [];
  isDeadAway = false;
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
      unread: {
        bury: async ({ seq }) => {
          if (this.isDeadAway) throw new Error("DEAD is away");
          this.buried.push(seq);
        },
        newer: ({ seq }, version) => this.newer.push(`${seq} ${version}`),
      },
      onEnd: (_reply, { seq }, end) => this.ended.push(`${seq} ${end.kind === "settled" ? end.as : end.kind}`),
      onTrouble: (line) => this.troubles.push(line),
      limits: { ...DEFAULT_LIMITS, firstPauseMs: 10, longestPauseMs: 10 },
    });
    desk.queue = { floor: async () => this.floor };
    return desk;
  }

  /** One that rings again at its desk when it is given back for a time. */
  bell({ seq, key }: Pick<OutboxEvent, "seq" | "key">, desk?: DeliveryDesk): OutboxBell {
    const again = (ms: number): void => {
      this.given.push(ms);
      void this.clock.sleep(ms, new AbortController().signal).then(() => desk?.ring(this.bell({ seq, key }, desk)));
    };
    return { seq, key, ack: () => this.acked.push(seq), nak: again, working: () => this.working.push(seq) };
  }
}
