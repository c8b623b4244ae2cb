import { decode, DeliveryRecord, encode, SCHEMA_VERSION } from "@troupe/contracts";
import type { DeliveryLedger, DeliveryPlace } from "@troupe/jetstream";
import type { Channel, Reply, SendOutcome } from "../channel.js";
import {
  changeOf,
  findingOf,
  findingOfUnreadable,
  overrules,
  type RecordChange,
  type Settlement,
  settlementOf,
} from "./delivery-rules.js";
import { saidOutcome } from "./said-outcome.js";

/**
 * One reply on its way to a person.
 *
 * D1 Nothing is sent that the ledger does not name as being sent, by this very sender: the record is created, or
 *    claimed by compare-and-set, before each send.
 * D2 Only what is surely not shown is sent again, or what the channel can be told twice without harm.
 * D3 A send of which nobody says what became of it is `unsettled`, never repeated: at most one is shown.
 * D4 Whoever learns later what became of its own send says so: an `unsettled` record can only become truer.
 * D5 No outcome is forgotten: a write that fails is repeated before anything else is done for the reply, also when this
 *    process is about to end. A claim that was not used is given back, or removed where its reply is gone: nobody would
 *    take that up again.
 * D6 Attempts are counted in the record, so that no restart makes them endless.
 */
export interface DeliveryPorts {
  readonly ledger: DeliveryLedger;
  readonly channel: Pick<Channel, "send" | "resend">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly maxAttempts: number;
  /** After this a send's outcome is `unknown`. */
  readonly sendLimitMs: number;
  /** Aborts when sends under way have to end: the process is about to. */
  readonly hurry: AbortSignal;
  /** Whether the reply is still to be shown: its conversation may have been erased. Asked after the claim. */
  readonly isWanted: () => Promise<boolean>;
}

export interface OutgoingReply {
  readonly place: DeliveryPlace;
  /** In OUTBOX. */
  readonly seq: number;
  readonly reply: Omit<Reply, "attempt">;
  /** Unlike that of any other claim, in this process or another. */
  readonly sender: string;
}

export type AttemptEnd =
  | {
      readonly kind: "settled";
      readonly as: Settlement;
      readonly reason: string | null;
      readonly attempt: number;
      /** D4 It had been flagged as a reply of which nobody can tell. */
      readonly wasUnsettled: boolean;
    }
  /** Settled before, by whomever. */
  | { readonly kind: "known"; readonly as: Settlement }
  /** To be attempted again after a pause. */
  | {
      readonly kind: "again";
      readonly reason: string;
      readonly attempt: number;
      readonly afterMs: number | undefined;
      /** It may be shown already: to be sent again does no harm. */
      readonly isDoubtful: boolean;
    }
  /** Nobody is to see it any more, and nothing of it is left. */
  | { readonly kind: "gone" }
  /** It is no longer this process that delivers. */
  | { readonly kind: "left" }
  /** A newer version has written its record: it is left to that. */
  | { readonly kind: "newer"; readonly version: number };

interface Claim {
  readonly revision: number;
  readonly change: RecordChange;
}

export class Delivery {
  readonly #ports: DeliveryPorts;
  readonly #outgoing: OutgoingReply;
  #claim: Claim | undefined;
  /** A claim may have landed though its answer did not come. */
  #inDoubt = false;
  #outcome: SendOutcome | undefined;

  constructor(ports: DeliveryPorts, outgoing: OutgoingReply) {
    this.#ports = ports;
    this.#outgoing = outgoing;
  }

  /**
   * Goes on where the last attempt ended.
   *
   * @param isOurs asked right before a send: whether this process still is the one that delivers
   * @throws what the ledger throws: attempt it again
   */
  async attempt(isOurs: () => boolean): Promise<AttemptEnd> {
    const claimed = this.#claim ?? (await this.#claimed());
    if ("kind" in claimed) return claimed;
    this.#claim = claimed;
    if (this.#outcome === undefined) {
      if (!isOurs()) return this.#give(claimed);
      if (!(await this.#ports.isWanted())) return this.#drop();
      if (!isOurs()) return this.#give(claimed);
      this.#outcome = await this.#send(claimed.change.attempt);
    }
    const end = await this.#record(claimed, this.#outcome);
    this.#claim = undefined;
    this.#outcome = undefined;
    return end;
  }

  /**
   * D5 Says what this process knows before others take over; nothing is sent any more. Resolves to how a send ended
   * that had not been recorded yet, if there was one.
   *
   * @throws what the ledger throws: call it again
   */
  async close(): Promise<AttemptEnd | null> {
    const claim = this.#claim ?? (this.#inDoubt ? await this.#ownClaim() : undefined);
    let end: AttemptEnd | null = null;
    if (claim !== undefined && this.#outcome !== undefined) end = await this.#record(claim, this.#outcome);
    else if (claim !== undefined) await this.#give(claim);
    this.#claim = undefined;
    this.#outcome = undefined;
    this.#inDoubt = false;
    return end;
  }

  async #ownClaim(): Promise<Claim | undefined> {
    const stored = await this.#ports.ledger.read(this.#outgoing.place);
    const record = stored === null ? undefined : recordIn(stored.text);
    const isOwn = record?.status === "sending" && record.sender === this.#outgoing.sender;
    return isOwn && stored !== null ? { revision: stored.revision, change: record } : undefined;
  }

  async #drop(): Promise<AttemptEnd> {
    await this.#ports.ledger.remove(this.#outgoing.place);
    this.#claim = undefined;
    return { kind: "gone" };
  }

  /**
   * A claim that was never used is given back: nothing has been sent under it. A reply that is erased after this look
   * takes its record with it.
   */
  async #give(claim: Claim): Promise<AttemptEnd> {
    if (!(await this.#ports.isWanted())) return this.#drop();
    const change: RecordChange = { ...claim.change, status: "waiting", reason: "handed over before it was sent" };
    await this.#write(change, claim.revision);
    this.#claim = undefined;
    return { kind: "left" };
  }

  /** D1 D3 */
  async #claimed(): Promise<Claim | AttemptEnd> {
    const { ledger, channel } = this.#ports;
    const { place, sender } = this.#outgoing;
    // Most replies are new: the record is created without looking first.
    let stored: Awaited<ReturnType<DeliveryLedger["read"]>> = null;
    for (;;) {
      const read = stored === null ? null : decode(DeliveryRecord, stored.text);
      if (read?.kind === "newer") return read;
      const record = read?.kind === "ok" ? read.message : null;
      const finding =
        read?.kind === "invalid"
          ? findingOfUnreadable(sender, channel.resend)
          : findingOf(record, sender, channel.resend);
      if (finding.kind === "settled") return { kind: "known", as: finding.as };
      if (finding.kind === "claimed" && stored !== null && record !== null) {
        return { revision: stored.revision, change: record };
      }
      if (finding.kind === "write") {
        this.#inDoubt ||= finding.claims;
        const revision = await this.#write(finding.change, stored?.revision ?? 0);
        if (revision !== null) {
          const { change } = finding;
          this.#inDoubt = false;
          if (finding.claims) return { revision, change };
          return { kind: "settled", as: "unsettled", ...saidOf(change), wasUnsettled: false };
        }
      }
      stored = await ledger.read(place);
    }
  }

  async #send(attempt: number): Promise<SendOutcome> {
    const { channel, sendLimitMs, hurry } = this.#ports;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), sendLimitMs);
    const cut = (): void => limit.abort();
    hurry.addEventListener("abort", cut, { once: true });
    const late = new Promise<SendOutcome>((resolve) => {
      const giveUp = (): void => resolve({ kind: "unknown", reason: "no outcome in time" });
      limit.signal.addEventListener("abort", giveUp, { once: true });
    });
    if (hurry.aborted) limit.abort();
    try {
      return saidOutcome(await Promise.race([channel.send({ ...this.#outgoing.reply, attempt }, limit.signal), late]));
    } catch (error) {
      return saidOutcome({ kind: "unknown", reason: error instanceof Error ? error.message : error });
    } finally {
      clearTimeout(timer);
      hurry.removeEventListener("abort", cut);
    }
  }

  /** D2 D4 D5 */
  async #record({ revision, change: claim }: Claim, outcome: SendOutcome): Promise<AttemptEnd> {
    const { ledger, channel, maxAttempts } = this.#ports;
    const change = changeOf(outcome, claim, { resend: channel.resend, maxAttempts });
    let end = endOf(change, outcome, false);
    let expected = revision;
    while ((await this.#write(change, expected)) === null) {
      const stored = await ledger.read(this.#outgoing.place);
      const found = stored === null ? undefined : recordIn(stored.text);
      // Removed with its conversation, or of a form that newer versions write: nothing is left to say.
      if (stored === null || found === undefined) return end;
      if (found.sender === change.sender && found.status === change.status) return end;
      if (!overrules(found, change)) {
        const as = settlementOf(found.status);
        return as === null ? { kind: "left" } : { kind: "known", as };
      }
      end = endOf(change, outcome, found.status === "unsettled");
      expected = stored.revision;
    }
    return end;
  }

  #write(change: RecordChange, revision: number): Promise<number | null> {
    const { place, seq } = this.#outgoing;
    const at = new Date(this.#ports.now()).toISOString();
    const [receipt, reason] = [bounded(change.receipt), bounded(change.reason)];
    const record: DeliveryRecord = { v: SCHEMA_VERSION, id: place.id, seq, ...change, receipt, reason, at };
    return this.#ports.ledger.write(place, encode(DeliveryRecord, record), revision);
  }
}

function endOf(change: RecordChange, outcome: SendOutcome, wasUnsettled: boolean): AttemptEnd {
  const { reason, attempt } = saidOf(change);
  const as = settlementOf(change.status);
  if (as !== null) return { kind: "settled", as, reason, attempt, wasUnsettled };
  const afterMs = outcome.kind === "not-sent" ? outcome.retryAfterMs : undefined;
  return { kind: "again", reason: reason ?? "not sent", attempt, afterMs, isDoubtful: outcome.kind === "unknown" };
}

/** As the record has it: whoever is told of it writes it into a log. */
const saidOf = ({ reason, attempt }: RecordChange) => ({ reason: bounded(reason), attempt });

/** What the outside says may be of any length; the ledger's size is reckoned with short records. */
function bounded(text: string | null): string | null {
  return text === null ? null : text.slice(0, MOST_SAID).toWellFormed();
}

const MOST_SAID = 150;

/** Undefined: what is there is not of this version. */
function recordIn(text: string): DeliveryRecord | undefined {
  const decoded = decode(DeliveryRecord, text);
  return decoded.kind === "ok" ? decoded.message : undefined;
}
