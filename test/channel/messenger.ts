import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { OutsideMood } from "@troupe/channel-kit/testing";

/** A message that people see. */
interface ShownMessage {
  readonly id: string;
  text: string;
}

/** What a channel's process asks the messenger to show. */
export interface SentMessage {
  readonly id: string;
  readonly turn: string | null;
  readonly conversation: string;
  readonly text: string;
  /** Process id of the sender. */
  readonly from: number;
}

/** What a test does to a send, or to a preview that has arrived, while it is under way. */
export type SendHook = (when: "arrived" | "shown" | "preview", text: string, sent: SentMessage) => Promise<void> | void;

/** `losing`: the connection breaks, and nothing is shown. */
export type MessengerMood = OutsideMood | "losing";

/** `again`: it was there already. */
export type MessengerDeed = "shown" | "again" | "refused" | "preview";

/**
 * A messenger as its users and its API see it, played at the wire: it shows what it is sent, and passes on what people
 * say to the address that a channel has registered, again and again until it is taken.
 *
 * `POST /send {id?, turn?, conversation, text, from?}` · `POST /edit {turn?, conversation, text, from?}` shows or replaces
 * one unfinished message · `POST /register {url}`
 */
export class Messenger {
  readonly url: string;
  /** Texts by conversation, oldest first. */
  readonly #shown = new Map<string, ShownMessage[]>();
  #mood: OutsideMood = "well";
  readonly #server: ReturnType<typeof createServer>;
  /** Whether a text is shown once however often it is sent under the same id. */
  readonly #dedups: boolean;
  readonly #registered: string[] = [];
  hook: SendHook = () => undefined;
  /** How it takes a send; by default as all of them. */
  moodOf: (sent: SentMessage) => MessengerMood = () => this.#mood;
  /** Told of what it does, in the order in which people see it. */
  watch: (deed: MessengerDeed, sent: SentMessage) => void = () => undefined;

  private constructor(server: ReturnType<typeof createServer>, dedups: boolean) {
    this.#server = server;
    this.#dedups = dedups;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  static async start(dedups: boolean): Promise<Messenger> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Messenger(server, dedups);
  }

  async mood(mood: OutsideMood): Promise<void> {
    const [was, server] = [this.#mood, this.#server];
    this.#mood = mood;
    if (mood === "away") {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    } else if (was === "away") {
      server.listen(Number(new URL(this.url).port), "127.0.0.1");
      await once(server, "listening");
    }
  }

  shown(conversation: string): string[] {
    return (this.#shown.get(conversation) ?? []).map(({ text }) => text);
  }

  /** Tells the addresses that were registered, in turn, from one of them on; whether one of them took it. */
  async say(conversation: string, messageId: string, text: string, first = 0): Promise<boolean> {
    const body = JSON.stringify({ conversation, messageId, text });
    for (const url of this.#registered.slice(first)) {
      const answer = await fetch(url, { method: "POST", body }).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.ok === true) return true;
    }
    return false;
  }

  /** How many addresses are registered. */
  get listeners(): number {
    return this.#registered.length;
  }

  /** Where what people say is passed on to. */
  get addresses(): readonly string[] {
    return this.#registered;
  }

  /** Nobody is there any more. */
  strikeOut(url: string): void {
    const place = this.#registered.indexOf(url);
    if (place >= 0) this.#registered.splice(place, 1);
  }

  /** Keeps of a conversation that something was shown under an id, and not what. */
  forget(conversation: string): void {
    for (const message of this.#shown.get(conversation) ?? []) message.text = "";
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let raw = "";
    for await (const chunk of request) raw += String(chunk);
    const body = JSON.parse(raw) as SentMessage & { url: string };
    if (request.url === "/register") this.#registered.push(body.url);
    else if (request.url === "/edit") await this.#preview(body);
    else if (!(await this.#send(body, response))) return;
    response.end("{}");
  }

  /** False: it has been answered, or never will be. */
  async #send(sent: SentMessage, response: ServerResponse): Promise<boolean> {
    const mood = this.moodOf(sent);
    await this.hook("arrived", sent.text, sent);
    if (mood === "busy") response.writeHead(503, { "retry-after": "1" }).end();
    else if (mood === "refusing") {
      this.watch("refused", sent);
      response.writeHead(403).end("the person has left");
    } else if (mood === "losing") response.destroy();
    else {
      this.#show(sent);
      await this.hook("shown", sent.text, sent);
      if (mood === "mute") response.destroy();
    }
    return !response.headersSent && !response.destroyed;
  }

  #show(sent: SentMessage): void {
    const { id, conversation, text } = sent;
    const messages = this.#messagesOf(conversation);
    const isThere = this.#dedups && messages.some((message) => message.id === id);
    const preview = messages.findIndex((message) => message.id === "preview");
    if (preview >= 0) messages.splice(preview, 1);
    if (!isThere) messages.splice(preview >= 0 ? preview : messages.length, 0, { id, text });
    this.watch(isThere ? "again" : "shown", sent);
  }

  async #preview(sent: SentMessage): Promise<void> {
    const { conversation, text } = sent;
    await this.hook("preview", text, sent);
    this.watch("preview", sent);
    const messages = this.#messagesOf(conversation);
    const last = messages.find(({ id }) => id === "preview");
    if (last === undefined) messages.push({ id: "preview", text });
    else last.text = text;
  }

  #messagesOf(conversation: string): ShownMessage[] {
    const messages = this.#shown.get(conversation) ?? [];
    this.#shown.set(conversation, messages);
    return messages;
  }
}
