import { JsonFields } from "./json-fields.js";
import type { OutgoingMessage } from "./turn-record.js";

/** Keeps messages that have no final yet over a reload of the page, so that none is lost and none is sent as a second one. */
export class OutgoingStore {
  readonly #key: string;

  constructor(session: string) {
    this.#key = `troupe-outgoing ${session}`;
  }

  load(): OutgoingMessage[] {
    try {
      const stored: unknown = JSON.parse(sessionStorage.getItem(this.#key) ?? "[]");
      return Array.isArray(stored) ? stored.map(readMessage) : [];
    } catch {
      return [];
    }
  }

  save(messages: readonly OutgoingMessage[]): void {
    try {
      if (messages.length === 0) sessionStorage.removeItem(this.#key);
      else sessionStorage.setItem(this.#key, JSON.stringify(messages.map(({ id, text }) => ({ id, text }))));
    } catch {
      // Storage that is full or forbidden costs the comfort, not the message.
    }
  }
}

function readMessage(value: unknown): OutgoingMessage {
  const fields = new JsonFields(value);
  return { id: fields.text("id"), text: fields.text("text"), state: "waiting", reason: "" };
}
