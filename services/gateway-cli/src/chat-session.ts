import { parseSessionId } from "@troupe/contracts";
import { DEFAULT_HISTORY, HELP, parseChatCommand } from "./chat-command.js";
import type { ChatView } from "./chat-view.js";
import { Conversation } from "./conversation.js";
import type { GatewayClient } from "./gateway-client.js";
import { listSessions, sessionTable } from "./session-table.js";

const SESSIONS_SHOWN = 20;

export interface ChatSessionOptions {
  readonly client: GatewayClient;
  readonly view: ChatView;
  /** How many messages to show when a conversation is opened. */
  readonly historyCount: number;
  readonly leave: () => void;
}

/** What a person at the prompt does: lines in the order typed, one conversation at a time. */
export class ChatSession {
  readonly #options: ChatSessionOptions;
  #conversation: Conversation;
  #lastLine: Promise<void> = Promise.resolve();

  private constructor(options: ChatSessionOptions, conversation: Conversation) {
    this.#options = options;
    this.#conversation = conversation;
  }

  /** @throws GatewayFailure when the gateway cannot be reached or refuses */
  static async open(session: string, options: ChatSessionOptions): Promise<ChatSession> {
    const conversation = new Conversation(options.client, session, options.view);
    await conversation.open(options.historyCount);
    return new ChatSession(options, conversation);
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  /** Handles a line once those before it are handled; a cancel does not wait. */
  submit(line: string): void {
    if (parseChatCommand(line).kind === "cancel") {
      this.cancel();
      return;
    }
    this.#lastLine = this.#lastLine.then(() => this.#try(() => this.#handle(line)));
  }

  cancel(): void {
    const conversation = this.#conversation;
    void this.#try(() => conversation.cancel());
  }

  /** Resolves when every line is handled and every message has its answer. */
  async idle(): Promise<void> {
    await this.#lastLine;
    await this.#conversation.idle();
  }

  close(): void {
    this.#conversation.close();
  }

  async #try(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#options.view.note(error instanceof Error ? error.message : String(error), "error");
    }
  }

  async #handle(line: string): Promise<void> {
    const { client, view, leave } = this.#options;
    const command = parseChatCommand(line);
    switch (command.kind) {
      case "message":
        return this.#conversation.send(command.text);
      case "help":
        return view.note(HELP, "quiet");
      case "reset":
        return this.#conversation.reset();
      case "cancel":
        return this.#conversation.cancel();
      case "sessions":
        return view.note(sessionTable(await listSessions(client, { limit: SESSIONS_SHOWN })), "quiet");
      case "session":
        return this.#goTo(command.id);
      case "history":
        await this.#conversation.showHistory(command.count);
        return;
      case "quit":
        return leave();
      case "wrong":
        return view.note(command.hint, "warning");
    }
  }

  /** Stays where it is when the other conversation cannot be opened. */
  async #goTo(text: string): Promise<void> {
    const { client, view, historyCount } = this.#options;
    const id = parseSessionId(text);
    if (!id.ok) return view.note(id.reason, "warning");
    if (this.#conversation.busy) view.note(`the turn in ${this.#conversation.session} goes on`, "quiet");
    const next = new Conversation(client, id.text, view);
    view.note(`conversation ${id.text}`, "quiet");
    await next.open(historyCount || DEFAULT_HISTORY);
    this.#conversation.close();
    this.#conversation = next;
    next.redraw();
  }
}
