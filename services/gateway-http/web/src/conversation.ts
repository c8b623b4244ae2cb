import type { Accepted, Final } from "./api-answer.js";
import { ApiFailure } from "./api-failure.js";
import type { ChatEvent } from "./chat-event.js";
import { EventStream } from "./event-stream.js";
import type { GatewayApi } from "./gateway-api.js";
import { OutgoingQueue } from "./outgoing-queue.js";
import { OutgoingStore } from "./outgoing-store.js";
import { randomId } from "./random-id.js";
import { RetryPause } from "./retry-pause.js";
import { Transcript } from "./transcript.js";
import type { OutgoingMessage, TurnRecord } from "./turn-record.js";

const PAGE = 60;
/** More than a turn may have steps; what is older is no longer going on. */
const SYNC_LIMIT = 200;

export type Connection = "connecting" | "open" | "lost" | "refused";

export interface ConversationListener {
  /** Something to show has changed. */
  changed(): void;
  finished(final: Final): void;
  /** A line that belongs to no turn. */
  told(text: string): void;
}

/** One session, from its log, its events and what is written here. */
export class Conversation {
  readonly session: string;
  readonly #api: GatewayApi;
  readonly #listener: ConversationListener;
  readonly #store: OutgoingStore;
  readonly #queue: OutgoingQueue;
  readonly #stream: EventStream;
  #transcript = new Transcript();
  #connection: Connection = "connecting";
  #loaded = false;
  #watched = true;
  #syncing: Promise<void> | null = null;
  #syncAgain = false;
  readonly #closing = new AbortController();
  /** Whether a cancel was asked for and the turn is not over yet. */
  cancelling = false;
  loadingOlder = false;

  constructor(api: GatewayApi, session: string, listener: ConversationListener) {
    this.#api = api;
    this.session = session;
    this.#listener = listener;
    this.#store = new OutgoingStore(session);
    this.#queue = new OutgoingQueue(api, session, {
      changed: (message) => {
        this.#transcript.sending(message);
        this.#changed();
      },
      accepted: (message, answer) => this.#accepted(message, answer),
    });
    this.#stream = new EventStream(api, session, {
      opened: () => this.#opened(),
      event: (event) => this.#receive(event),
      lost: () => this.#connect("lost"),
      refused: (failure) => this.#refused(failure),
    });
    for (const message of this.#store.load()) this.#transcript.write(message);
    // The log is there to be read whether or not events can be followed just now.
    void this.sync();
  }

  get turns(): readonly TurnRecord[] {
    return this.#transcript.turns.filter(({ visible }) => visible);
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** Whether the log has been read. */
  get loaded(): boolean {
    return this.#loaded;
  }

  get busy(): boolean {
    return this.#transcript.busy;
  }

  get hasOlder(): boolean {
    return this.#transcript.hasOlder;
  }

  /** Index of the oldest message shown. */
  get oldest(): number {
    return this.#transcript.first;
  }

  get queuedElsewhere(): number {
    return this.#transcript.queuedElsewhere;
  }

  /**
   * Tells whether anybody looks at this page. One that nobody looks at and that waits for nothing holds no connection:
   * browsers allow six to one host, and with as many such pages open none would get through any more.
   */
  set watched(watched: boolean) {
    this.#watched = watched;
    this.#stream.want(watched || this.busy);
  }

  send(text: string): void {
    const message: OutgoingMessage = { id: `web_${randomId(16)}`, text, state: "waiting", reason: "" };
    this.#transcript.write(message);
    this.#queue.add(message);
    this.#changed();
  }

  /** Sends a message that was refused once more. */
  sendAgain(message: OutgoingMessage): void {
    this.#queue.add(message);
    this.#transcript.sending(message);
    this.#changed();
  }

  discard({ id }: OutgoingMessage): void {
    this.#transcript.withdraw(id);
    this.#changed();
  }

  async cancel(): Promise<void> {
    if (!this.busy || this.cancelling) return;
    this.cancelling = true;
    this.#changed();
    await this.#try(() => this.#api.cancel(this.session), "Not stopped");
    this.cancelling = false;
    await this.sync();
  }

  async reset(): Promise<void> {
    await this.#try(() => this.#api.reset(this.session), "Not reset");
    await this.sync();
  }

  async loadOlder(): Promise<void> {
    if (this.loadingOlder) return;
    this.loadingOlder = true;
    this.#changed();
    await this.#try(async () => {
      const from = Math.max(0, this.#transcript.first - PAGE);
      const page = await this.#api.messages(this.session, from, this.#transcript.first - from);
      if (page !== null) this.#transcript.readLog(page, from);
    }, "Earlier messages could not be loaded");
    this.loadingOlder = false;
    this.#changed();
  }

  /** Reads what the log says now. Calls while one is under way are answered by one more. */
  sync(): Promise<void> {
    this.#syncAgain = true;
    this.#syncing ??= this.#syncAll();
    return this.#syncing;
  }

  close(): void {
    this.#closing.abort();
    this.#stream.close();
    this.#queue.close();
  }

  async #syncAll(): Promise<void> {
    const pause = new RetryPause();
    while (this.#syncAgain && !this.#closing.signal.aborted) {
      this.#syncAgain = false;
      try {
        await this.#readAnew();
        this.#changed();
      } catch (error) {
        if (!(error instanceof ApiFailure) || !error.passing) {
          this.#listener.told(`The conversation could not be read: ${reasonOf(error)}.`);
          break;
        }
        await pause.wait(this.#closing.signal, error.retryAfterMs);
        this.#syncAgain = true;
      }
    }
    this.#syncing = null;
  }

  async #readAnew(): Promise<void> {
    const state = await this.#api.session(this.session);
    if (state === null) {
      this.#forget();
      this.#loaded = true;
      return;
    }
    const isSame = this.#transcript.readState(state);
    if (!isSame) this.#forget();
    const isFirst = !isSame || !this.#loaded;
    const from = isFirst ? Math.max(0, state.messageCount - PAGE) : this.#transcript.readFrom;
    const page = await this.#api.messages(this.session, from, isFirst ? PAGE : SYNC_LIMIT);
    if (page === null) return;
    if (isFirst) this.#transcript.readState(state);
    this.#transcript.readLog(page, isFirst ? from : null);
    this.#loaded = true;
  }

  /** The session was reset: what was written after that, or is still on its way, stays. */
  #forget(): void {
    const open = this.#transcript.turns.filter(({ active }) => active).flatMap(({ outgoing }) => outgoing ?? []);
    this.#transcript = new Transcript();
    for (const message of open) this.#transcript.write(message);
  }

  #opened(): void {
    this.#connect("open");
    void this.sync();
    // Their finals may have been told while nobody listened; the same id gets the same final, not a second turn.
    for (const { active, outgoing } of this.#transcript.turns) {
      if (active && outgoing !== null && outgoing.state !== "failed") this.#queue.add(outgoing);
    }
  }

  #connect(connection: Connection): void {
    this.#connection = connection;
    this.#changed();
  }

  #refused({ message }: ApiFailure): void {
    this.#connect("refused");
    this.#listener.told(`This conversation cannot be followed: ${message}`);
  }

  #receive(event: ChatEvent): void {
    const mustRead = this.#transcript.receive(event);
    if (event.kind === "final" && mustRead) this.#listener.finished(event.final);
    if (mustRead) void this.sync();
    this.#changed();
  }

  #accepted(message: OutgoingMessage, { turn, final }: Accepted): void {
    this.#transcript.accepted(message, turn);
    if (final !== null && this.#transcript.finish(final)) {
      this.#listener.finished(final);
      void this.sync();
    }
    this.#changed();
  }

  async #try(step: () => Promise<void>, failing: string): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#listener.told(`${failing}: ${reasonOf(error)}.`);
    }
  }

  #changed(): void {
    if (this.#closing.signal.aborted) return;
    this.#stream.want(this.#watched || this.busy);
    const open = this.#transcript.turns.filter(({ active }) => active);
    this.#store.save(open.flatMap(({ outgoing }) => outgoing ?? []));
    this.#listener.changed();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown reason";
}
