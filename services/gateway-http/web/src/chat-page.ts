import type { Final } from "./api-answer.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { Drawer } from "./drawer.js";
import { byId } from "./element.js";
import type { GatewayApi } from "./gateway-api.js";
import { randomId } from "./random-id.js";
import { ResetDialog } from "./reset-dialog.js";
import { ScrollFollow } from "./scroll-follow.js";
import { SessionList } from "./session-list.js";
import { TranscriptView } from "./transcript-view.js";
import type { TurnRecord } from "./turn-record.js";

/** Longer answers are not read aloud: the person finds them in the page. */
const MAX_ANNOUNCED = 2_000;

/** The chat: which conversation is open, and what is on the screen for it. */
export class ChatPage {
  readonly #api: GatewayApi;
  readonly #composer: Composer;
  readonly #drawer: Drawer;
  readonly #resetDialog: ResetDialog;
  readonly #sessions: SessionList;
  readonly #transcript: TranscriptView;
  readonly #follow = new ScrollFollow(byId("log", HTMLElement), byId("to-end", HTMLButtonElement));
  readonly #older = byId("older", HTMLButtonElement);
  readonly #empty = byId("empty", HTMLElement);
  readonly #banner = byId("banner", HTMLElement);
  readonly #title = byId("title", HTMLElement);
  readonly #reset = byId("reset", HTMLButtonElement);
  readonly #waiting = byId("waiting", HTMLElement);
  readonly #announcer = byId("announcer", HTMLElement);
  readonly #drafts = new Map<string, string>();
  #conversation: Conversation | undefined;
  #drawing = false;
  #wasBusy = false;
  /** Index of the oldest message on the screen. */
  #oldest = 0;

  constructor(api: GatewayApi) {
    this.#api = api;
    this.#composer = new Composer({ send: (text) => this.#send(text), cancel: () => this.#cancel() });
    this.#sessions = new SessionList(api, () => this.#drawer.close());
    this.#drawer = new Drawer(() => void this.#sessions.refresh());
    this.#resetDialog = new ResetDialog(() => void this.#resetConversation());
    this.#transcript = new TranscriptView({
      sendAgain: ({ outgoing }: TurnRecord) => outgoing !== null && this.#conversation?.sendAgain(outgoing),
      discard: ({ outgoing }: TurnRecord) => outgoing !== null && this.#conversation?.discard(outgoing),
    });
    this.#reset.addEventListener("click", () => this.#resetDialog.ask());
    this.#older.addEventListener("click", () => void this.#conversation?.loadOlder());
    byId("new-session", HTMLButtonElement).addEventListener("click", () => {
      location.hash = encodeURIComponent(newSession());
      this.#drawer.close();
    });
    addEventListener("hashchange", () => void this.#openFromAddress());
    addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("visibilitychange", () => {
      if (this.#conversation !== undefined) this.#conversation.watched = !document.hidden;
      if (!document.hidden) void this.#sessions.refresh();
    });
  }

  async start(): Promise<void> {
    await this.#openFromAddress();
    await this.#sessions.refresh();
  }

  async #openFromAddress(): Promise<void> {
    const found = sessionInAddress() ?? (await this.#newest()) ?? newSession();
    // The person may have gone somewhere else in the meantime.
    const named = sessionInAddress();
    const session = named ?? found;
    if (named === null) history.replaceState(null, "", `#${encodeURIComponent(session)}`);
    this.#open(session);
  }

  /** Where the person was last, as far as the list tells. */
  async #newest(): Promise<string | null> {
    try {
      const { sessions } = await this.#api.sessions(null, 100);
      const own = sessions.filter(({ session }) => session.startsWith("http:"));
      return own.toSorted((one, other) => other.updatedAt - one.updatedAt)[0]?.session ?? null;
    } catch {
      return null;
    }
  }

  #open(session: string): void {
    const before = this.#conversation;
    if (before?.session === session) return;
    if (before !== undefined) {
      this.#drafts.set(before.session, this.#composer.draft);
      before.close();
    }
    this.#transcript.hush();
    this.#conversation = new Conversation(this.#api, session, {
      changed: () => this.#draw(),
      finished: (final) => this.#finished(final),
      told: (text) => this.#tell(text),
    });
    this.#conversation.watched = !document.hidden;
    this.#composer.draft = this.#drafts.get(session) ?? "";
    this.#sessions.current = session;
    this.#oldest = 0;
    this.#follow.follow();
    this.#draw();
    this.#composer.focus();
  }

  #send(text: string): void {
    this.#transcript.hush();
    this.#conversation?.send(text);
    this.#follow.follow();
  }

  #cancel(): void {
    void this.#conversation?.cancel();
  }

  async #resetConversation(): Promise<void> {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    this.#transcript.hush();
    await conversation.reset();
    this.#sessions.titles.forget(conversation.session);
    this.#announce("The conversation begins anew.");
    this.#composer.focus();
    await this.#sessions.refresh();
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.isComposing || this.#resetDialog.isOpen) return;
    if (this.#drawer.covers) this.#drawer.close();
    else this.#cancel();
  }

  #finished({ text, kind }: Final): void {
    if (text.length <= MAX_ANNOUNCED) this.#announce(kind === "merged" ? "Taken into the running turn." : text);
    else this.#announce("A long answer is here.");
  }

  #tell(text: string): void {
    this.#transcript.tell(text);
    this.#announce(text);
    this.#follow.settle();
  }

  #announce(text: string): void {
    this.#announcer.textContent = text;
  }

  /** Draws once, however much changes at a time. */
  #draw(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    const draw = (): void => {
      this.#drawing = false;
      this.#drawNow();
    };
    // A page in the background gets no frames, but its title and its log must not lie.
    if (document.hidden) setTimeout(draw);
    else requestAnimationFrame(draw);
  }

  #drawNow(): void {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    const { turns, busy, cancelling, connection, queuedElsewhere: queued } = conversation;
    const firstWords = turns[0]?.items().find((item) => item.kind === "question");
    const { session } = conversation;
    if (firstWords?.kind === "question" && !conversation.hasOlder) {
      if (this.#sessions.titles.learn(session, firstWords.text)) this.#sessions.show();
    }
    const title = turns.length === 0 ? "New conversation" : this.#sessions.titles.title(session);
    this.#title.textContent = title;
    document.title = `${busy ? "… " : ""}${title} · Troupe`;
    this.#older.hidden = !conversation.hasOlder;
    this.#older.disabled = conversation.loadingOlder;
    this.#empty.hidden = turns.length > 0 || !conversation.loaded;
    this.#banner.hidden = connection !== "lost";
    this.#reset.disabled = turns.length === 0;
    this.#waiting.hidden = queued === 0;
    this.#waiting.textContent = queued === 1 ? "1 more message waits." : `${queued} more messages wait.`;
    this.#composer.show({ busy, cancelling });
    if (busy !== this.#wasBusy) void this.#sessions.refresh();
    this.#wasBusy = busy;
    const prepends = conversation.oldest < this.#oldest;
    this.#oldest = conversation.oldest;
    if (prepends) this.#follow.hold(() => this.#transcript.show(turns));
    else this.#transcript.show(turns);
    this.#follow.settle();
  }
}

/** The part of the address after "#"; null when it names no session. */
function sessionInAddress(): string | null {
  try {
    const named = decodeURIComponent(location.hash.slice(1));
    return named === "" ? null : named.includes(":") ? named : `http:${named}`;
  } catch {
    return null; // Not what this page writes.
  }
}

function newSession(): string {
  return `http:web-${randomId(6)}`;
}
