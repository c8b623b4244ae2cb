import { createServer, type Socket } from "node:net";

/** A server that says hello as NATS does and answers pings, for versions that cannot be installed here. */
export async function startFakeNats(version: string): Promise<{ url: string; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const info = { server_id: "FAKE", server_name: "fake", version, go: "go", proto: 1, headers: true };
    socket.write(
      `INFO ${JSON.stringify({ ...info, host: "127.0.0.1", port: 0, max_payload: 1_048_576, jetstream: true })}\r\n`,
    );
    socket.setEncoding("utf8").on("data", (text: string) => {
      for (const line of text.split("\r\n")) if (line.startsWith("PING")) socket.write("PONG\r\n");
    });
    socket.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `nats://127.0.0.1:${address.port}`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
