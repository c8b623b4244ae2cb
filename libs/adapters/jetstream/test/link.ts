import { connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server that can be frozen: what stands still behind it reads nothing and says nothing, and nobody is told. */
export class Link {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<Link> {
    const server = createServer();
    const link = new Link(server);
    server.on("connection", (near) => {
      const far = connect(port, "127.0.0.1");
      for (const socket of [near, far]) {
        link.#sockets.add(socket);
        socket.on("error", () => link.#end());
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return link;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the link is closed");
    return `nats://127.0.0.1:${address.port}`;
  }

  freeze(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  close(): void {
    this.#end();
    this.#server.close();
  }

  #end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
