// Somebody who talks through a messenger. It passes on each message again and again, to any address of the channel,
// until one says that it has it, and shows what it is sent.
import { setTimeout as delay } from "node:timers/promises";
import { Record } from "./record.mjs";
import { noteTaken } from "./taken.mjs";

/** An address that is silent for so long is not waited for: the next one is told, while the first may still hear it. */
const SILENCE_MS = 2_500;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;
const LOOK_MS = 50;
/** What was not shown after this may never be, for a good reason: then the record is asked. */
const DOUBT_MS = 1_500;

export class MessengerClient {
  #channels;
  #operator;
  #screen;
  #record;
  #journal;
  #patienceMs;
  #turn = 0;
  /** What addresses have been told and have not answered, by session name. */
  #open = new Map();

  /** @param operator the client for what cannot be said at a messenger */
  constructor({ channels, operator, screen, record, journal, patienceMs }) {
    this.#channels = channels;
    this.#operator = operator;
    this.#screen = screen;
    this.#record = record;
    this.#journal = journal;
    this.#patienceMs = patienceMs;
  }

  /** Tells it until it is taken, and, with `final`, waits until its reply has been shown or never will be. */
  async send(name, message, { final }) {
    const endAt = performance.now() + this.#patienceMs;
    message.sentAt ??= this.#journal.tick();
    message.askedMs ??= this.#journal.ageMs;
    const isTaken = await this.#tell(name, message, endAt);
    if (!isTaken || !final) return isTaken;
    return this.#read(name, message, endAt);
  }

  /** Messengers repeat what was taken long ago. */
  async again(name, message) {
    if (message.acceptedAt !== undefined) await this.send(name, message, { final: false });
  }

  control(name, kind) {
    return this.#operator.control(name, kind);
  }

  /** When nothing is under way: what is told afterwards is said anew, and a silent address may still pass it on. */
  async erase(name) {
    await Promise.all(this.#open.get(name) ?? []);
    return this.#operator.erase(name);
  }

  async #tell(name, message, endAt) {
    const messenger = this.#channels.messengerOf(name.split(":")[0]);
    for (let pauseMs = FIRST_PAUSE_MS; performance.now() < endAt; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const { addresses } = messenger;
      const url = addresses[this.#turn++ % addresses.length];
      const telling =
        url === undefined ? undefined : this.#kept(name, this.#tellOne({ name, message, messenger, url }));
      // Another address may have taken it meanwhile.
      const isTaken = await Promise.race([telling, delay(SILENCE_MS)]);
      if (isTaken) return true;
      await delay(pauseMs);
    }
    this.#journal.note(name, `say ${message.tag}: patience ended`);
    return false;
  }

  /** Known as under way for as long as it is. */
  #kept(name, telling) {
    const open = this.#open.get(name) ?? new Set();
    this.#open.set(name, open.add(telling));
    void telling.finally(() => {
      open.delete(telling);
      if (open.size === 0 && this.#open.get(name) === open) this.#open.delete(name);
    });
    return telling;
  }

  /** Whether it is taken; never given up, because a halted process finds it when it wakes up. */
  async #tellOne({ name, message, messenger, url }) {
    const wasKnown = message.acceptedAt !== undefined;
    const conversation = name.slice(name.indexOf(":") + 1);
    const body = JSON.stringify({ conversation, messageId: message.id, text: message.text });
    const what = `say ${message.tag} at ${new URL(url).port}`;
    try {
      const response = await fetch(url, { method: "POST", body });
      const text = await response.text();
      this.#journal.note(name, `${what}: ${response.status} ${text}`);
      if (response.status === 200) noteTaken(message, JSON.parse(text), { journal: this.#journal, wasKnown });
      else if (response.status === 422) this.#operator.surprises.push({ session: name, text: `${what}: refused` });
      return response.status === 200;
    } catch (error) {
      const code = error.cause?.code ?? error.name;
      this.#journal.note(name, `${what}: ${code}`);
      if (code === "ECONNREFUSED") messenger.strikeOut(url);
      return false;
    }
  }

  async #read(name, message, endAt) {
    const turn = Record.turnOf(name, message.id);
    const doubtAt = performance.now() + DOUBT_MS;
    for (let pauseMs = LOOK_MS; performance.now() < endAt; await delay(pauseMs)) {
      if (this.#screen.has(name, turn)) {
        message.shownMs ??= this.#journal.ageMs - message.askedMs;
        return true;
      }
      if (performance.now() < doubtAt) continue;
      if (await this.#record.isDelivered(name, turn)) return true;
      pauseMs = LONGEST_PAUSE_MS;
    }
    this.#journal.note(name, `read ${message.tag}: patience ended`);
    return false;
  }
}
