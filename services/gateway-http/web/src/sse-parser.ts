export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads `text/event-stream`, in pieces of any size, as the HTML standard says. */
export class SseParser {
  readonly #emit: (event: SseEvent) => void;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string | null = null;
  /** Of the last event that carried one: where to resume. */
  lastEventId: string | null = null;

  constructor(emit: (event: SseEvent) => void) {
    this.#emit = emit;
  }

  push(piece: string): void {
    const text = this.#rest + piece;
    // A line feed may still follow a carriage return at the end, and is part of the same line break.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id") this.#id = value;
  }

  #dispatch(): void {
    const event = { event: this.#event || "message", data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    // Not before the event is whole: one that was cut in the middle must be asked for again.
    this.lastEventId = this.#id ?? this.lastEventId;
    this.#event = "";
    this.#data = [];
    if (!isEmpty) this.#emit(event);
  }
}
