/**
 * A relay between one service and the NATS server. It sees every message that the service publishes at the moment it
 * leaves, and may keep it back, so that a test can end the process at an exact point without any help of the process.
 */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Published {
  readonly subject: string;
  /** Headers included. */
  readonly body: string;
}

/** `drop`: the message, and all that follow on this connection, never reach the server. */
export type TapVerdict = "pass" | "drop";

export interface WireTap {
  /** `NATS_URL` that leads through the relay. */
  readonly url: string;
  /** Asked for each message before it is passed on. */
  before: (published: Published) => TapVerdict;
  /** Told of each message after it has been passed on. */
  after: (published: Published) => void;
  close(): Promise<void>;
}

export async function startWireTap(natsUrl: string): Promise<WireTap> {
  const target = new URL(natsUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.once("close", () => sockets.delete(socket));
    }
    upstream.pipe(client);
    let dropping = false;
    const take = messageReader((bytes, published) => {
      if (!dropping && published !== undefined) dropping = tap.before(published) === "drop";
      if (dropping) return;
      upstream.write(bytes);
      if (published !== undefined) tap.after(published);
    });
    client.on("data", take);
    client.once("end", () => upstream.end());
    client.once("close", () => upstream.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  const tap: WireTap = {
    url: `nats://${target.username}:${target.password}@127.0.0.1:${address.port}`,
    before: () => "pass",
    after: () => undefined,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return tap;
}

const LINE_END = Buffer.from("\r\n");

/** Cuts the client's side of the protocol into its operations; a publish comes with its message. */
function messageReader(take: (bytes: Buffer, published?: Published) => void): (part: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (part) => {
    rest = Buffer.concat([rest, part]);
    for (;;) {
      const end = rest.indexOf(LINE_END);
      if (end < 0) return;
      const words = rest.subarray(0, end).toString("utf8").split(" ");
      const isPublish = /^H?PUB$/i.test(words[0] ?? "");
      const bodyFrom = end + LINE_END.length;
      const size = isPublish ? Number(words.at(-1)) : 0;
      const length = isPublish ? bodyFrom + size + LINE_END.length : bodyFrom;
      if (rest.length < length) return;
      const bytes = rest.subarray(0, length);
      const body = isPublish ? rest.subarray(bodyFrom, bodyFrom + size).toString("utf8") : "";
      rest = rest.subarray(length);
      take(bytes, isPublish ? { subject: words[1] ?? "", body } : undefined);
    }
  };
}
