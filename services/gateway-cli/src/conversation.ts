import { randomUUID } from "node:crypto";
import { type ChatView, SILENT_VIEW } from "./chat-view.js";
import { type EventFeed, openEventFeed } from "./event-feed.js";
import { approvalText, reasonWithoutAnswer, taskText, toolText } from "./event-text.js";
import type { Accepted, FinalAnswer } from "./gateway-answer.js";
import type { GatewayClient } from "./gateway-client.js";
import type { GatewayEvent } from "./gateway-event.js";
import type { GatewayFailure } from "./gateway-failure.js";
import { showHistory } from "./history-text.js";
import { MessageSender, type OutgoingMessage } from "./message-sender.js";
import { Preview } from "@troupe/channel-kit/preview";

/*
 * C1 A message keeps the id it was made with, through every retry, so that it is one turn however often it is sent.
 * C2 Messages are sent one after the other, in the order they were written.
 * C3 The final of a turn is shown once, whether it came by events, by an answer to a retry, or both, or twice.
 * C4 A final that events did not bring (nothing durable had been seen when the connection broke) is asked for: after a
 *    reconnect every open message is sent again.
 */

const CANCEL_WAITS_MS = 2_000;
const RESET_WAITS_MS = 10_000;
const WORKING = "working … (Ctrl-C cancels)";

/** One session as the person at the terminal sees it. */
export class Conversation {
  readonly session: string;
  readonly #client: GatewayClient;
  #view: ChatView;
  readonly #preview = new Preview();
  readonly #open = new Map<string, OutgoingMessage>();
  readonly #finished = new Set<string>();
  readonly #closed = new AbortController();
  readonly #sender: MessageSender;
  #unsent = 0;
  #away = false;
  #elsewhere: string | undefined;
  #cancelAsked = false;
  #feed: EventFeed | undefined;
  /** Events wait here until the history is on the screen. */
  #held: GatewayEvent[] | undefined = [];
  #idle: (() => void)[] = [];
  /** Whether a message could not be sent. */
  failed = false;

  constructor(client: GatewayClient, session: string, view: ChatView) {
    this.#client = client;
    this.session = session;
    this.#view = view;
    this.#sender = new MessageSender(client, session, ({ message }) =>
      this.#view.status(`trying again … (Ctrl-C gives up): ${message}`),
    );
  }

  /** @throws GatewayFailure when the gateway cannot be reached or refuses */
  async open(historyCount: number): Promise<void> {
    this.#feed = await openEventFeed(this.#client, this.session, {
      event: (event) => (this.#held === undefined ? this.#receive(event) : void this.#held.push(event)),
      lost: (reason) => this.#lost(reason),
      back: () => this.#reconnected(),
      refused: (failure) => this.#refused(failure),
    });
    try {
      await this.#catchUp(historyCount);
    } catch (error) {
      this.close();
      throw error;
    }
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#receive(event);
  }

  close(): void {
    this.#closed.abort();
    this.#sender.giveUp("left");
    this.#feed?.close();
    this.#view = SILENT_VIEW;
  }

  /** Shows the preview and status of this conversation in place of another's. */
  redraw(): void {
    this.#view.preview(this.#preview.text);
    this.#settle();
  }

  /** Whether a turn runs or a message is on its way. */
  get busy(): boolean {
    return this.#unsent > 0 || this.#open.size > 0 || this.#elsewhere !== undefined;
  }

  get cancelAsked(): boolean {
    return this.#cancelAsked;
  }

  /** Resolves when everything written has its final (or could not be sent). */
  async idle(): Promise<void> {
    while (this.#unsent > 0 || this.#open.size > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  send(text: string): void {
    const queued = this.busy;
    this.#unsent++;
    if (!queued) this.#view.status("sending …");
    void this.#sendAndFollow({ id: randomUUID(), text }, queued);
  }

  async cancel(): Promise<void> {
    this.#cancelAsked = true;
    this.#settle();
    // A cancel ends what was sent before it, so what is on its way goes first, unless it does not get through.
    await this.#sender.flush(CANCEL_WAITS_MS);
    const signal = this.#closed.signal;
    try {
      const cancelled = await this.#client.cancel(this.session, signal);
      if (cancelled?.cancelled === true) return;
      this.#elsewhere = undefined;
      this.#view.note("nothing is running", "quiet");
      this.#cancelAsked = false;
    } catch (error) {
      this.#cancelAsked = false; // It may be asked for again.
      throw error;
    } finally {
      this.#settle();
    }
  }

  async reset(): Promise<void> {
    await this.#sender.flush(RESET_WAITS_MS);
    const reset = await this.#client.reset(this.session);
    this.#view.preview("");
    this.#elsewhere = undefined;
    this.#view.note(reset === undefined ? "nothing to forget yet" : "the conversation begins anew", "quiet");
    this.#settle();
  }

  /** @returns the turns whose answer is among the messages shown */
  async showHistory(count: number): Promise<string[]> {
    return showHistory(this.#client, this.session, { count, view: this.#view });
  }

  async #catchUp(historyCount: number): Promise<void> {
    const state = await this.#client.session(this.session);
    if (state === undefined) return;
    if (historyCount > 0 && state.messageCount > 0) {
      for (const turn of await this.showHistory(historyCount)) this.#finished.add(turn);
    }
    if (state.turn !== null && !this.#finished.has(state.turn.id)) this.#elsewhere = state.turn.id;
    this.#settle();
  }

  async #sendAndFollow(message: OutgoingMessage, queued: boolean): Promise<void> {
    try {
      const done = this.#accepted(await this.#sender.send(message), message);
      if (queued && !done && this.busy) this.#view.note("queued: it follows the turn that is running", "quiet");
    } catch (error) {
      this.failed = true;
      const reason = error instanceof Error ? error.message : String(error);
      this.#view.note(`not sent: ${reason}`, "error");
    } finally {
      this.#unsent--;
      this.#settle();
    }
  }

  /** @returns whether the turn has its final already */
  #accepted({ turn, final }: Accepted, message: OutgoingMessage): boolean {
    if (this.#elsewhere === turn) this.#elsewhere = undefined;
    if (!this.#finished.has(turn)) this.#open.set(turn, message);
    if (final !== null) this.#finish(final);
    return !this.#open.has(turn);
  }

  #lost(reason: string): void {
    this.#away = true;
    this.#view.note(`connection lost, connecting again … (${reason})`, "warning");
  }

  #reconnected(): void {
    if (this.#away) this.#view.note("connected again", "quiet");
    this.#away = false;
    this.#cancelAsked = false;
    void this.#askForFinals();
  }

  async #askForFinals(): Promise<void> {
    const asked = [...this.#open.values()].map(async (message) => {
      // A failure here is the next reconnect's business: the feed tells when the gateway is gone again.
      const accepted = await this.#sender.send(message).catch(() => undefined);
      if (accepted !== undefined) this.#accepted(accepted, message);
    });
    await Promise.all(asked);
    if (this.#elsewhere !== undefined) {
      const state = await this.#client.session(this.session).catch(() => undefined);
      if (state !== undefined && state.turn?.id !== this.#elsewhere) this.#elsewhere = undefined;
    }
    this.#settle();
  }

  #refused(failure: GatewayFailure): void {
    this.failed = true;
    this.#open.clear();
    this.#elsewhere = undefined;
    this.#view.note(`no more events: ${failure.message}`, "error");
    this.#settle();
  }

  #receive(event: GatewayEvent): void {
    const { turn } = event.data;
    const late = turn !== null && this.#finished.has(turn);
    switch (event.kind) {
      case "notice":
        return this.#view.note(event.data.text, event.data.level === "warn" ? "warning" : "quiet");
      case "approval":
        return this.#view.note(approvalText(event.data), event.data.status === "pending" ? "warning" : "quiet");
      case "final":
        return this.#finish(event.data);
      case "delta":
      case "reset":
      case "tool":
      case "task":
        if (!late) this.#live(event);
    }
  }

  #live(event: Extract<GatewayEvent, { kind: "delta" | "reset" | "tool" | "task" }>): void {
    const { turn } = event.data;
    if (!this.#open.has(turn) && this.#unsent === 0) this.#elsewhere = turn;
    switch (event.kind) {
      case "delta":
        this.#preview.append(event.data);
        this.#view.status(WORKING);
        break;
      case "reset":
        this.#preview.reset(event.data);
        this.#view.status(`starting the answer over (${event.data.reason}) …`);
        break;
      case "tool":
        if (event.data.status === "started") this.#view.status(toolText(event.data));
        else this.#view.note(toolText(event.data), "quiet");
        if (event.data.status !== "started") this.#view.status(WORKING);
        break;
      case "task":
        this.#view.note(taskText(event.data), "quiet");
    }
    this.#view.preview(this.#preview.text);
  }

  #finish(final: FinalAnswer): void {
    if (this.#finished.has(final.turn)) return; // C3
    this.#finished.add(final.turn);
    const asked = this.#open.has(final.turn) || this.#unsent > 0;
    this.#open.delete(final.turn);
    if (this.#elsewhere === final.turn) this.#elsewhere = undefined;
    this.#preview.end(final.turn);
    this.#view.preview(this.#preview.text);
    const reason = reasonWithoutAnswer(final);
    if (reason === undefined) this.#view.answer(final.text, asked);
    else this.#view.note(reason, final.kind === "merged" ? "quiet" : final.kind === "error" ? "error" : "warning");
    this.#settle();
  }

  #settle(): void {
    if (!this.busy) this.#cancelAsked = false;
    this.#view.status(this.busy ? (this.#cancelAsked ? "cancelling …" : WORKING) : "");
    if (this.#unsent > 0 || this.#open.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
