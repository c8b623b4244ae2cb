// Who says what in which order, drawn from the seed before anything starts; the wall clock has no part in it.
import { drawMessage, drawOutside } from "./message-draw.mjs";
import { Random } from "./random.mjs";

/**
 * How the channels treat a second message. `http` is the HTTP gateway's own, `cli` is written to as an operator, and
 * the others have messengers.
 */
export const CHANNEL_MODES = { http: "queue", cli: "steer", webhook: "interrupt", telegram: "queue" };

/** The channels that have a messenger, and what it does with a reply that it is sent twice. */
export const RESENDS = { webhook: "harmless", telegram: "unsafe" };

const STEPS = { ask: 34, chat: 8, burst: 18, twins: 10, again: 10, cancel: 9, reset: 4, erase: 5, forget: 7 };

/** What ends what was said before it. */
const ENDING = ["cancel", "reset", "erase"];

/** `turns` messages in all, dealt out to sessions of different lengths. */
export function drawSessions(seed, turns) {
  const sessions = [];
  for (let left = turns; left > 0; ) {
    const session = new SessionDraw(new Random(seed, 1, sessions.length), sessions.length).draw(left);
    left -= session.messages.length;
    sessions.push(session);
  }
  return sessions;
}

class SessionDraw {
  #random;
  #n;
  #channel;
  #isOperators;
  #messages = [];
  #steps = [];
  /** Counts resets and erasures: a model is never shown what was said in another era. */
  #era = 0;
  /** Counts erasures: of an earlier life nothing may be left. */
  #life = 0;

  constructor(random, n) {
    this.#random = random;
    this.#n = n;
    this.#channel = random.weighted({ http: 62, cli: 16, webhook: 12, telegram: 10 });
    // An operator may write into any channel's conversation; what is replied goes to the messenger all the same.
    this.#isOperators = !(this.#channel in RESENDS) || (this.#channel === "webhook" && random.chance(0.25));
  }

  draw(limit) {
    const random = this.#random;
    const isLong = random.chance(0.2);
    const size = Math.min(limit, isLong ? random.between(20, 40) : random.between(4, 12));
    while (this.#messages.length < size) this.#step(size);
    return {
      n: this.#n,
      name: `${this.#channel}:chaos-${this.#n}`,
      channel: this.#channel,
      /** Said at the channel's messenger, not over HTTP. */
      isAtMessenger: !this.#isOperators,
      /** Absent: the channel has no messenger. */
      resend: RESENDS[this.#channel],
      messages: this.#messages,
      steps: this.#steps,
      /** How many erasures have been carried out. */
      life: 0,
      isWatched: random.chance(0.4),
      /** A reader who cuts the stream after so many events and comes back with `Last-Event-ID`. */
      hangsUpAfter: random.chance(0.5) ? random.between(1, 4) : Infinity,
    };
  }

  #step(size) {
    const random = this.#random;
    const kind = random.weighted(this.#channel === "http" ? STEPS : { ...STEPS, chat: 0 });
    if (kind === "again") return this.#sayAgain();
    const count = kind === "burst" ? Math.min(random.between(2, 4), size - this.#messages.length) : 1;
    const mayBeCancelled = ENDING.includes(kind) || CHANNEL_MODES[this.#channel] === "interrupt";
    this.#steps.push({
      kind,
      // Over the OpenAI-compatible route a client cannot tell an honest error from one that passes.
      of: Array.from({ length: count }, () => this.#say({ kind, mayBeCancelled })),
      copies: random.between(2, 3),
      afterMs: random.between(0, 250),
      atOnce: random.chance(0.3),
    });
    // What nobody waited for may still be under way.
    if (ENDING.includes(kind)) for (const message of this.#messages) message.mayBeCancelled ||= message.isForgotten;
    if (kind === "reset" || kind === "erase") this.#era += 1;
    if (kind === "erase") this.#life += 1;
    return undefined;
  }

  #sayAgain() {
    const known = this.#messages.filter(({ life }) => life === this.#life);
    if (known.length > 0) this.#steps.push({ kind: "again", of: [known[this.#random.between(0, known.length - 1)]] });
  }

  #say({ kind, mayBeCancelled }) {
    const tag = `s${this.#n}.${this.#messages.length}`;
    const message = drawMessage(this.#random, { tag, era: this.#era, mayFail: kind !== "chat" });
    // An id from before an erasure names a new message after it.
    const before = this.#messages.filter(({ life }) => life < this.#life);
    const taken = this.#messages.filter(({ life }) => life === this.#life).map(({ id }) => id);
    const old = before[this.#random.between(0, Math.max(0, before.length - 1))];
    const id = old !== undefined && !taken.includes(old.id) && this.#random.chance(0.4) ? old.id : `id-${tag}`;
    const outside = this.#channel in RESENDS ? { outside: drawOutside(this.#random) } : {};
    this.#messages.push({
      ...message,
      ...outside,
      id,
      life: this.#life,
      mayBeCancelled,
      isForgotten: kind === "forget",
    });
    return this.#messages.at(-1);
  }
}
