import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give out by themselves. */
const PORTS = { from: 20_000, to: 32_000 } as const;

/**
 * A port of this machine's loopback where nobody listens, and which nobody gets who asks for any port: it stays free
 * until it is used, and while a server is restarted on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
