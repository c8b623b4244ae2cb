import type { Final } from "./api-answer.js";
import type { HistoryMessage, ToolCall } from "./history-page.js";
import { LiveAnswer } from "./live-answer.js";

/** How far a message of this page is on its way. */
export type Sending = "waiting" | "sending" | "retrying" | "sent" | "failed";

/** A message that was written on this page. */
export interface OutgoingMessage {
  /** Made once: it makes a message that is sent again the same message. */
  readonly id: string;
  readonly text: string;
  state: Sending;
  /** Why it was not sent. */
  reason: string;
}

/** One thing to be shown of a turn. The key stays while the thing does. */
export type TurnItem = { readonly key: string } & (
  | { readonly kind: "question"; readonly text: string }
  | { readonly kind: "answer"; readonly text: string; readonly preview: boolean }
  | { readonly kind: "tool"; readonly name: string; readonly status: string; readonly detail: string }
  | { readonly kind: "notice" | "error" | "quiet"; readonly text: string }
  | { readonly kind: "thinking" }
  | { readonly kind: "unsent"; readonly text: string }
);

/** Everything known of one turn, from the log, the stream and the person's own sending. */
export class TurnRecord {
  /** Null until the gateway has taken the message. */
  turn: string | null;
  readonly outgoing: OutgoingMessage | null;
  live = new LiveAnswer();
  final: Final | null = null;
  /** Whether its end is still to come, as far as is known. */
  active: boolean;
  /** Whether it is the one that the session is working at, and not waiting for that one. */
  running = false;
  #notices: string[] = [];
  readonly #log = new Map<number, HistoryMessage>();

  constructor(turn: string | null, outgoing: OutgoingMessage | null = null) {
    this.turn = turn;
    this.outgoing = outgoing;
    this.active = outgoing !== null;
  }

  get key(): string {
    return this.outgoing?.id ?? this.turn ?? "";
  }

  /** The place of its first message in the log. */
  get firstIndex(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#log.keys());
  }

  /** Where it stands among others: by the log, else where it ended, else last. */
  get place(): number {
    const ended = this.final === null ? Number.MAX_SAFE_INTEGER : this.final.index + 0.5;
    return this.#log.size > 0 ? this.firstIndex : ended;
  }

  /** Whether there is anything to show: an end without a question is the echo of a log that was reset. */
  get visible(): boolean {
    return this.outgoing !== null || this.#log.size > 0 || this.active;
  }

  get hasQuestion(): boolean {
    return this.outgoing !== null || this.#has("user");
  }

  /** Whether an answer, or why there is none, is here. */
  get ended(): boolean {
    return this.final !== null || this.#messages().some(endsTurn);
  }

  notice(text: string): void {
    // The replay after a reconnect may tell it again.
    if (this.#notices.at(-1) !== text) this.#notices.push(text);
  }

  add(message: HistoryMessage): void {
    this.#log.set(message.index, message);
  }

  /** Takes over what another record knows of the same turn. */
  absorb(other: TurnRecord): void {
    for (const message of other.#log.values()) this.add(message);
    this.live = other.live;
    this.final ??= other.final;
    this.#notices.push(...other.#notices);
    this.active &&= !this.ended;
  }

  /** To be called when messages have been added. */
  settle(): void {
    const said = this.#messages().filter((message) => message.role === "assistant");
    const steps = this.ended ? Number.POSITIVE_INFINITY : said.length;
    this.live.settle(new Set(said.flatMap(({ calls }) => calls.map(({ id }) => id))), steps);
    if (this.ended) this.active = false;
  }

  items(): TurnItem[] {
    const messages = this.#messages();
    const items: TurnItem[] = [];
    if (!this.#has("user") && this.outgoing !== null) {
      items.push({ key: "question", kind: "question", text: this.outgoing.text });
    }
    items.push(...messages.flatMap((message) => this.#logItems(message, messages)));
    items.push(...this.#liveItems(), ...this.#notices.map(noticeItem), ...this.#endItems());
    return items;
  }

  #messages(): HistoryMessage[] {
    return [...this.#log.values()].toSorted((one, other) => one.index - other.index);
  }

  #has(role: HistoryMessage["role"]): boolean {
    return this.#messages().some((message) => message.role === role);
  }

  #logItems(message: HistoryMessage, all: readonly HistoryMessage[]): TurnItem[] {
    const key = `log-${message.index}`;
    switch (message.role) {
      case "user":
        return [{ key: "question", kind: "question", text: message.content }];
      case "tool":
        return [];
      case "assistant": {
        const { content, calls, failed, index } = message;
        const tools = calls.map((call) => this.#toolItem(call, all));
        if (content === null || content === "") return tools;
        // The final's own words are shown once, from wherever they came first.
        if (index === this.final?.index && this.final.kind !== "cancelled") return tools;
        const text: TurnItem = failed
          ? { key: "end", kind: "error", text: content }
          : { key: calls.length === 0 ? "end" : key, kind: "answer", text: content, preview: false };
        return [text, ...tools];
      }
    }
  }

  #toolItem(call: ToolCall, all: readonly HistoryMessage[]): TurnItem {
    const result = all.find((message) => message.role === "tool" && message.callId === call.id);
    const open = this.ended ? "unknown" : "started";
    const status = result?.role === "tool" ? (result.isError ? "error" : "done") : open;
    const detail = [call.arguments, result?.content ?? ""].filter((part) => part !== "" && part !== "{}").join("\n\n");
    return { key: `tool-${call.id}`, kind: "tool", name: call.name, status, detail };
  }

  #liveItems(): TurnItem[] {
    const last = this.live.items.at(-1);
    return this.live.items.map((item) =>
      item.kind === "text"
        ? { key: `live-${item.step}`, kind: "answer", text: item.text, preview: item === last && this.final === null }
        : {
            key: `tool-${item.callId}`,
            kind: "tool",
            name: item.name,
            status: item.status,
            detail: item.summary === item.name ? "" : item.summary,
          },
    );
  }

  #endItems(): TurnItem[] {
    const { final } = this;
    if (final !== null) return [finalItem(final)];
    if (this.ended) return [];
    switch (this.outgoing?.state) {
      case "failed":
        return [{ key: "state", kind: "unsent", text: this.outgoing.reason }];
      case "retrying":
        return [{ key: "state", kind: "quiet", text: "Not sent yet. Trying again…" }];
      case "waiting":
      case "sending":
      case "sent":
      case undefined:
        break;
    }
    if (this.running) {
      const writing = this.live.items.at(-1)?.kind === "text";
      return writing ? [] : [{ key: "state", kind: "thinking" }];
    }
    if (this.active) return [{ key: "state", kind: "quiet", text: "Queued. It follows the turn before it." }];
    return this.#has("user") ? [{ key: "state", kind: "quiet", text: "Ended without an answer of its own." }] : [];
  }
}

function endsTurn(message: HistoryMessage): boolean {
  return message.role === "assistant" && message.calls.length === 0;
}

function noticeItem(text: string, n: number): TurnItem {
  return { key: `notice-${n}`, kind: "notice", text };
}

function finalItem({ kind, text }: Final): TurnItem {
  switch (kind) {
    case "answer":
      return { key: "end", kind: "answer", text, preview: false };
    case "cancelled":
      return { key: "end", kind: "quiet", text: text || "Cancelled." };
    case "merged":
      return { key: "end", kind: "quiet", text: "Taken into the turn that was running." };
    default:
      return { key: "end", kind: "error", text: text || "The turn failed." };
  }
}
