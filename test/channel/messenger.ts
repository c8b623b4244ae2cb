import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { OutsideMood } from "@troupe/channel-kit/testing";

/** A message that people see. */
interface ShownMessage {
  readonly id: string;
  text: string;
}

/** What a test does to a send, or to a preview, while it is under way. */
export type SendHook = (when: "arrived" | "shown" | "edit", text: string) => Promise<void> | void;

/**
 * A messenger as its users and its API see it, played at the wire: it shows what it is sent, and passes on what people
 * say to the address that a channel has registered, again and again until it is taken.
 *
 * `POST /send {id?, conversation, text}` · `POST /edit {conversation, text}` shows or replaces one unfinished message ·
 * `POST /register {url}`
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

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const mood = this.#mood;
    let raw = "";
    for await (const chunk of request) raw += String(chunk);
    const body = JSON.parse(raw) as { id: string; conversation: string; text: string; url: string };
    if (request.url === "/register") this.#registered.push(body.url);
    else if (request.url === "/edit") {
      await this.hook("edit", body.text);
      this.#preview(body);
    } else {
      await this.hook("arrived", body.text);
      if (mood === "busy") return void response.writeHead(503, { "retry-after": "1" }).end();
      if (mood === "refusing") return void response.writeHead(403).end("the person has left");
      this.#show(body);
      await this.hook("shown", body.text);
      if (mood === "mute") return void request.socket.destroy();
    }
    response.end("{}");
  }

  #show({ id, conversation, text }: { id: string; conversation: string; text: string }): void {
    const messages = this.#messagesOf(conversation);
    const same = messages.find((message) => message.id === "preview" || (this.#dedups && message.id === id));
    if (same === undefined) messages.push({ id, text });
    else if (same.id === "preview") messages.splice(messages.indexOf(same), 1, { id, text });
  }

  #preview({ conversation, text }: { conversation: string; text: string }): void {
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
