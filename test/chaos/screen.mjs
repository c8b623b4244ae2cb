// What people see at the messengers, conversation by conversation, in the order in which it happened.
import { generationOf } from "./delivery-laws.mjs";

export class Screen {
  counts = { "replies shown at messengers": 0, "replies sent again and shown once": 0, "previews shown": 0 };
  #sessions = new Map();
  /** Ids of the replies shown in all, by session name: stays when all else is forgotten. */
  #shown = new Map();
  #journal;
  #downtime;

  constructor(journal, downtime) {
    this.#journal = journal;
    this.#downtime = downtime;
  }

  take(name, deed, { id, turn, text, from }) {
    const isStruck = this.#downtime.isStruck(from, this.#journal.ageMs);
    this.#sessions.set(name, [...this.of(name), { deed, id, turn, text, from, isStruck }]);
    this.#journal.note(name, `  messenger: ${deed} ${id ?? "preview"} of ${turn}, by ${from}`);
    if (deed === "shown") {
      this.counts["replies shown at messengers"] += 1;
      this.#shown.set(name, [...(this.#shown.get(name) ?? []), id]);
    } else if (deed === "again") this.counts["replies sent again and shown once"] += 1;
    else if (deed === "preview") this.counts["previews shown"] += 1;
  }

  /** `{ deed, id, turn, text, from, isStruck }`, oldest first; whether its sender was struck about then */
  of(name) {
    return this.#sessions.get(name) ?? [];
  }

  has(name, turn) {
    return this.of(name).some((one) => one.deed === "shown" && one.turn === turn);
  }

  /**
   * How many replies were ever shown to a session; with the generation that the last erasure left behind, only since
   * then: what was on its way when it was erased may come at any time.
   */
  countOf(name, bornAt = 0) {
    return (this.#shown.get(name) ?? []).filter((id) => generationOf(id) >= bornAt).length;
  }

  /** What was seen so far is of no account any more. */
  forget(name) {
    this.#sessions.delete(name);
  }
}
