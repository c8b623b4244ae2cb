// Judges a session as soon as it has come to rest and lets go of what it knew about it, so that a long run needs no more
// memory than a short one. What comes after that is found at the end.
import { setTimeout as delay } from "node:timers/promises";
import { countEnds, excusedPreviews, overtaken } from "./delivery-laws.mjs";
import { inTurns, settle } from "./settle.mjs";
import { judge, judgeErasure } from "./verdict.mjs";

/** While processes are being struck a session may take long; one that takes longer is judged at the end. */
const REST_LIMIT_MS = 60_000;
const SETTLE_MS = 45_000;
/** When all runs again, whoever still has no judgement after this will never have one. */
const CLOSE_LIMIT_MS = 240_000;

export class Court {
  #client;
  #record;
  #journal;
  #verdict;
  #delays;
  #screen;
  #channels;
  #hearings = [];
  #left = [];
  /** What was there of each session when it was judged: `{ name, key, events, stored }`. */
  #closed = [];
  /** What is being waited for, by session name. */
  #underWay = new Map();
  judged = { sessions: 0, turns: 0, revisions: 0, "leases left to run out": 0 };
  /** Of the sessions whose replies go to a messenger. */
  delivered = {
    "sessions with a messenger": 0,
    "replies shown after their erasure": 0,
    "previews after the final, of a process that was struck": 0,
  };

  constructor({ client, record, journal, verdict, delays, screen, channels }) {
    this.#screen = screen;
    this.#channels = channels;
    this.#client = client;
    this.#record = record;
    this.#journal = journal;
    this.#verdict = verdict;
    this.#delays = delays;
  }

  /** Nothing may be left right after an erasure; what the services did late is looked for again when all is at rest. */
  async onErased(session) {
    const { name } = session;
    const entry = await this.#record.look(name);
    this.#record.laws.get(name).onErased();
    session.bornAt = entry?.fields.generation ?? 0;
    this.#journal.note(name, `erased: generation ${session.bornAt}`);
    const [outbox, stored] = [await this.#record.finals(name), await this.#record.stored(name)];
    this.#screen.forget(name);
    // Whoever was about to send claims the reply, finds it gone and takes the claim back: it is looked for at rest.
    if (session.resend !== undefined) stored.deliveries = [];
    judgeErasure(this.#verdict, { session, entry, outbox, stored });
  }

  /** A session that has said all; does not keep the caller waiting. */
  hear(session, follower) {
    const { name } = session;
    const hearing = async () => {
      this.#at(name, "rest");
      const restless = await settle(this.#parts, [session], REST_LIMIT_MS);
      if (restless.length > 0) this.#left.push({ session, follower });
      else await this.#judge(session, follower);
    };
    const failed = (error) => this.#verdict.add("stuck", name, null, `could not be judged: ${error.message}`);
    this.#hearings.push(this.#over(name, hearing()).catch(failed));
  }

  /** For whoever watches the run: how many sessions are looked at, and what the first of them waits for. */
  get doing() {
    const [first] = this.#underWay;
    if (first === undefined) return "";
    const [name, what] = first;
    return `${this.#underWay.size} under judgement, of ${name} the ${what}`;
  }

  /** To be called when everything runs again. */
  async close() {
    const patience = new AbortController();
    const late = delay(CLOSE_LIMIT_MS, undefined, { signal: patience.signal }).then(
      () => this.#giveUp(),
      () => undefined,
    );
    await Promise.race([this.#lookAtAll(), late]);
    patience.abort();
    for (const { session, text } of this.#client.surprises) this.#verdict.add("refused", session, null, text);
  }

  #giveUp() {
    for (const [name, what] of this.#underWay) {
      this.#verdict.add("stuck", name, null, `could not be judged: it waits for its ${what}`);
    }
  }

  async #lookAtAll() {
    await Promise.all(this.#hearings);
    const sessions = this.#left.map(({ session }) => session);
    for (const { session, unrest } of await settle(this.#parts, sessions, SETTLE_MS)) {
      this.#verdict.add("stuck", session.name, null, unrest.join("; "));
    }
    const judged = ({ session, follower }) => this.#over(session.name, this.#judge(session, follower));
    await inTurns(this.#left, judged);
    await inTurns(this.#closed, (one) => this.#over(one.name, this.#lookAgain(one)));
  }

  #at(name, what) {
    this.#underWay.set(name, what);
  }

  #over(name, looking) {
    return looking.finally(() => this.#underWay.delete(name));
  }

  get #parts() {
    return { record: this.#record, journal: this.#journal };
  }

  async #judge(session, follower) {
    const { name, messages } = session;
    const record = this.#record;
    this.#at(name, "finals");
    const outbox = await record.finals(name);
    this.#at(name, "event stream");
    await follower?.reach(outbox.findLast(({ final }) => final)?.seq ?? 0);
    await follower?.close();
    this.#at(name, "history");
    const history = await this.#client.history(name);
    this.#at(name, "record");
    const lostBlobs = await record.lostBlobs(name, history);
    const [entry, stored, laws] = [await record.look(name), await record.stored(name), record.laws.get(name)];
    const channel = session.resend === undefined ? {} : await this.#delivery(session);
    judge(this.#verdict, { session, outbox, entry, laws, history, lostBlobs, stored, follower, ...channel });
    this.judged.sessions += 1;
    this.judged.turns += messages.filter(({ acceptedAt }) => acceptedAt !== undefined).length;
    this.judged.revisions += laws.revisions;
    if (entry?.lease) this.judged["leases left to run out"] += 1;
    this.#delays.take(session, this.#journal);
    const { bornAt, life } = session;
    const shown = this.#screen.countOf(name, bornAt);
    const atRest = { events: eventsIn(outbox), stored: namesIn(stored), shown };
    this.#closed.push({ name, bornAt, isErased: life > 0, ...atRest });
    record.forget(name);
    this.#screen.forget(name);
    this.#channels.forget(session);
    // What was found has to be explained.
    if (!this.#verdict.concerns(name)) this.#journal.forget(name);
    session.messages = [];
    session.steps = [];
  }

  /** What the ledger and the messenger know of a session. */
  async #delivery({ name, bornAt }) {
    const [deliveries, screen] = [await this.#record.deliveries(name), this.#screen.of(name)];
    this.delivered["sessions with a messenger"] += 1;
    this.delivered["previews after the final, of a process that was struck"] += excusedPreviews(screen).length;
    this.delivered["replies shown after their erasure"] += overtaken(screen, bornAt).length;
    countEnds(this.delivered, deliveries);
    return { deliveries, screen };
  }

  async #lookAgain({ name, bornAt, isErased, events, stored, shown }) {
    this.#at(name, "last look");
    const shownNow = this.#screen.countOf(name, bornAt);
    if (shownNow !== shown)
      this.#verdict.add("delivered twice", name, null, `${shown} replies were shown at rest, and ${shownNow} are now`);
    const now = eventsIn(await this.#record.finals(name));
    if (now !== events) this.#verdict.add("doubled", name, null, `OUTBOX was ${events} at rest, and is ${now} now`);
    if (!isErased) return;
    const names = namesIn(await this.#record.stored(name));
    if (names !== stored)
      this.#verdict.add("remains after delete", name, null, `was ${stored} at rest, is ${names} now`);
  }
}

const eventsIn = (outbox) => outbox.map(({ seq }) => seq).join();
const namesIn = (stored) => JSON.stringify(Object.values(stored).map((names) => names.toSorted()));
