import { type Entry, type ListedPublish, publishesOf, runsOf } from "../entry.js";
import type { MemoryBroker, StoredMail } from "./memory-broker.js";
import type { SimFields, SimRun } from "./sim-actor.js";

/** What must hold at every step of a simulation, and at its end. A breach throws, naming the law. */
type SimEntry = Entry<SimFields, SimRun>;

export class Breach extends Error {
  override readonly name = "Breach";
}

const breach = (law: string, what: string): never => {
  throw new Breach(`${law}: ${what}`);
};

export class Invariants {
  readonly #broker: MemoryBroker;
  /** Body of each effect that a landed commit listed, by id. */
  readonly #promised = new Map<string, string>();
  readonly #publishedIds = new Set<string>();
  readonly #startedRuns = new Set<string>();
  /** All mail, in the order it came. */
  readonly #mail: StoredMail[] = [];
  /** Mail that waited unhandled in a log that is no more. */
  readonly #lost = new Set<StoredMail>();

  constructor(broker: MemoryBroker) {
    this.#broker = broker;
  }

  arrived(item: StoredMail): void {
    this.#mail.push(item);
  }

  /** The log is gone with all that waits in it. */
  lost(waiting: readonly StoredMail[]): void {
    for (const item of waiting) {
      const entry = this.#entryOf(item.key);
      if (item.origin !== "self" && !(entry && this.#isHandled(entry, item))) this.#lost.add(item);
    }
  }

  #entryOf(key: string): SimEntry | undefined {
    const stored = this.#broker.read(key);
    return stored === null ? undefined : (JSON.parse(stored.text) as SimEntry);
  }

  /** A write landed. */
  landed(before: string | undefined, after: string): void {
    const next = JSON.parse(after) as SimEntry;
    const prev = before === undefined ? undefined : (JSON.parse(before) as SimEntry);
    this.#ids(prev, next);
    this.#dropped(prev, next);
    this.#staleResults(prev, next);
    this.#log(this.#wholeLog(next));
  }

  /** K12: the sealed pieces that a state names are there, and with its tail they are the whole log. */
  #wholeLog(entry: SimEntry): string[] {
    const sealed = entry.fields.sealed.map(
      (name) => this.#broker.segments.get(name) ?? breach("K12", `${name} is missing`),
    );
    return [...sealed.flatMap((text) => JSON.parse(text) as string[]), ...entry.fields.log];
  }

  #ids(prev: SimEntry | undefined, next: SimEntry): void {
    const ids = new Set<string>();
    for (const effect of next.outstanding) {
      if (ids.has(effect.id)) breach("K3", `two listed effects share the id ${effect.id}`);
      ids.add(effect.id);
      if (effect.kind !== "publish") continue;
      const isNew = prev?.outstanding.every((x) => x.id !== effect.id) ?? true;
      if (isNew && this.#publishedIds.has(effect.id)) breach("K3", `a new effect reuses the published id ${effect.id}`);
      this.#promised.set(effect.id, JSON.stringify(effect.body));
    }
  }

  #dropped(prev: SimEntry | undefined, next: SimEntry): void {
    for (const effect of publishesOf(prev ?? { outstanding: [] })) {
      const kept = next.outstanding.some((x) => x.id === effect.id);
      if (!kept && !this.#publishedIds.has(effect.id))
        breach("K3", `effect ${effect.id} was dropped but never published`);
    }
  }

  /** A result counts only under the lease it was made under (K4); each result line ends with its epoch. */
  #staleResults(prev: SimEntry | undefined, next: SimEntry): void {
    const known = prev === undefined ? [] : this.#wholeLog(prev);
    const log = this.#wholeLog(next);
    if (known.some((line, place) => log[place] !== line)) breach("K12", "the log lost what it had");
    for (const line of log.slice(known.length)) {
      if (line.startsWith("result") && Number(line.split(" ")[3]) !== prev?.epoch) {
        breach("K4", `"${line}" was committed in epoch ${prev?.epoch}`);
      }
    }
  }

  /** Each mail once, each lane in order, one end each, and nothing after a cut that came later (K2). */
  #log(log: readonly string[]): void {
    const seen = new Set<string>();
    for (const line of log) {
      const [verb] = line.split(" ");
      if (verb === "resumed" || verb === "poison") continue;
      const once = verb === "result" ? line.split(" ").slice(0, 3).join(" ") : line;
      if (seen.has(once)) breach("K4", `"${once}" happened twice`);
      seen.add(once);
    }
    const placeOf = new Map(this.#mail.map((item, place) => [item.text, place]));
    for (const lane of ["user", "control", "ops"]) {
      const seqs = log
        .filter((line) => line.startsWith("mail "))
        .map((line) => line.slice(5))
        .filter((text) => this.#laneOf(text) === lane);
      const order = seqs.map((text) => placeOf.get(text) ?? 0);
      if (order.some((seq, i) => i > 0 && seq <= (order[i - 1] ?? 0)))
        breach("K2", `${lane} mail out of order: ${seqs.join(" ")}`);
    }
    this.#cuts(log, placeOf);
  }

  #cuts(log: readonly string[], placeOf: ReadonlyMap<string, number>): void {
    let cut = 0;
    for (const line of log) {
      const text = line.split(" ")[1] ?? "";
      const seq = placeOf.get(text) ?? 0;
      if (line.startsWith("mail ") && (text.startsWith("c") || text.startsWith("r"))) cut = Math.max(cut, seq);
      if (line.startsWith("result") && seq < cut) breach("K2", `"${line}" came after a cut with a later sequence`);
    }
  }

  #laneOf(text: string): string {
    if (this.#mail.find((item) => item.text === text)?.origin === "ops") return "ops";
    return /^[crd]/.test(text) ? "control" : "user";
  }

  published(effect: ListedPublish): void {
    const promised = this.#promised.get(effect.id);
    if (promised === undefined) breach("K9", `effect ${effect.id} was published, but no landed commit lists it`);
    if (promised !== JSON.stringify(effect.body))
      breach("K3", `effect ${effect.id} was published with another body than promised`);
    const { blob } = effect.body;
    if (typeof blob === "string" && !this.#broker.blobs.has(blob)) breach("K12", `${blob} is named and not stored`);
    this.#publishedIds.add(effect.id);
  }

  runStarted(id: string): void {
    if (this.#startedRuns.has(id)) breach("K6", `run ${id} was started twice`);
    this.#startedRuns.add(id);
  }

  /** A bell left the queue. */
  acked(item: StoredMail): void {
    const entry = this.#entryOf(item.key);
    if (entry === undefined || !this.#isHandled(entry, item))
      return breach("K7", `bell ${item.seq} (${item.text}) was acked before its mail was handled`);
    for (const effect of entry.outstanding) {
      if (effect.bell !== item.seq) continue;
      if (effect.kind === "run") breach("K7", `bell ${item.seq} was acked while run ${effect.id} is outstanding`);
      if (!this.#publishedIds.has(effect.id))
        breach("K7", `bell ${item.seq} was acked while ${effect.id} is unconfirmed`);
    }
  }

  #isHandled(entry: SimEntry, item: StoredMail): boolean {
    const { cursors, timers } = entry;
    if (item.origin !== "self" && item.log !== entry.mailStream) return false;
    if (item.origin === "ops") return item.seq <= cursors.ops;
    if (item.origin === "self") return timers.every((timer) => timer.id !== item.text);
    return item.seq <= (this.#laneOf(item.text) === "control" ? cursors.control : cursors.user);
  }

  /** All is quiet: nothing may be left over, and every user mail has exactly one final. */
  settled(keys: readonly string[], faults: number): void {
    for (const key of keys) {
      const entry = this.#entryOf(key);
      if (entry === undefined) continue;
      if (runsOf(entry).length > 0) breach("K6", "runs are left over");
      for (const effect of publishesOf(entry)) {
        if (!this.#publishedIds.has(effect.id)) breach("K3", `effect ${effect.id} is listed and was never published`);
      }
      if (entry.fields.active !== null || entry.fields.queued.length > 0) breach("K7", "a turn was left unfinished");
    }
    for (const item of this.#mail) this.#answered(item, faults);
  }

  #answered(item: StoredMail, faults: number): void {
    if (item.origin === "self" || /^[crd]/.test(item.text)) return;
    const isDead = item.text.startsWith("y");
    const answers = this.#broker.published.filter(
      (x) => x.body["mail"] === item.text && x.subject === (isDead ? "dead" : "final"),
    );
    // A copy under the same id, after the duplicate window, is for the delivery ledger to drop.
    const copies = new Set(answers.map((x) => x.id)).size;
    if (copies === 0 && this.#lost.has(item)) return;
    if (copies !== 1) breach("K9", `${item.text} has ${copies} ${isDead ? "dead letters" : "finals"}`);
    // A run whose runner fails ends in an error, and so may mail whose processes die of something else.
    const how = answers[0]?.body["how"];
    const isPoison = /^[xz]/.test(item.text);
    const isSuspect = isPoison || item.text.startsWith("w") || faults > 0;
    if ((isPoison && how === "answer") || (how === "error" && !isSuspect))
      breach("K11", `${item.text} ended as ${String(how)}`);
  }
}
