import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { NatsServer } from "@troupe/testkit";
import { z } from "zod";

/** Whatever bytes a test likes, straight to the NATS server: past every check that a client library makes. */
export class BareNats {
  readonly #socket: Socket;
  readonly #waiting = new Map<string, (text: string) => void>();
  #serial = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open({ port, user, pass }: Pick<NatsServer, "port" | "user" | "pass">): Promise<BareNats> {
    const socket = connect(port, "127.0.0.1").setEncoding("utf8");
    await once(socket, "connect");
    const bare = new BareNats(socket);
    let rest = "";
    socket.on("data", (part) => {
      rest = bare.#take(rest + String(part));
    });
    socket.on("error", () => undefined);
    socket.write(`CONNECT ${JSON.stringify({ user, pass, verbose: false, pedantic: false })}\r\nSUB bare.> 1\r\n`);
    return bare;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Publishes and forgets; no stream need take it. */
  tell(subject: string, body: string | Buffer): void {
    this.#send(`PUB ${subject}`, Buffer.from(body));
  }

  /** Publishes and resolves with the answer's text: of a stream, that it is stored. */
  ask(subject: string, body: string | Buffer): Promise<string> {
    const inbox = `bare.${++this.#serial}`;
    return new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`no answer on ${subject}`)), 30_000);
      this.#waiting.set(inbox, (text) => {
        clearTimeout(limit);
        resolve(text);
      });
      this.#send(`PUB ${subject} ${inbox}`, Buffer.from(body));
    });
  }

  /** The newest message of a subject in a stream: its text, or null. */
  async last(stream: string, subject: string): Promise<string | null> {
    const text = await this.ask(`$JS.API.STREAM.MSG.GET.${stream}`, JSON.stringify({ last_by_subj: subject }));
    const { message } = z
      .object({ message: z.object({ data: z.string().default("") }).optional() })
      .parse(JSON.parse(text));
    return message === undefined ? null : Buffer.from(message.data, "base64").toString("utf8");
  }

  #send(head: string, body: Buffer): void {
    this.#socket.write(Buffer.concat([Buffer.from(`${head} ${body.length}\r\n`), body, Buffer.from("\r\n")]));
  }

  /** Reads what is whole and gives back the rest. Answers of the server's are ASCII, so characters are bytes. */
  #take(text: string): string {
    let rest = text;
    for (;;) {
      const end = rest.indexOf("\r\n");
      if (end < 0) return rest;
      const [kind, subject = "", ...words] = rest.slice(0, end).split(" ");
      if (kind === "PING") this.#socket.write("PONG\r\n");
      const size = kind === "MSG" ? Number(words.at(-1)) : -2;
      if (rest.length < end + 4 + size) return rest;
      if (kind === "MSG") this.#waiting.get(subject)?.(rest.slice(end + 2, end + 2 + size));
      rest = rest.slice(end + 4 + size);
    }
  }
}
