// A relay between the orchestrator and NATS: tells how long after the commit that names a reply has left the reply
// leaves, which is when the commit is known to have landed.
import { once } from "node:events";
import { connect, createServer } from "node:net";

export async function watchCommits(natsUrl) {
  const target = new URL(natsUrl);
  const sockets = new Set();
  let writtenAt;
  const commits = [];
  const look = (chunk) => {
    const now = performance.now();
    // One conversation is at work at a time: the newest entry before a reply is the one that names it.
    if (chunk.includes("HPUB $KV.sessions.")) writtenAt = now;
    if (chunk.includes("HPUB outbox.") && writtenAt !== undefined) {
      commits.push(now - writtenAt);
      writtenAt = undefined;
    }
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.pipe(client);
    client.on("data", look);
    client.pipe(upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `nats://${target.username}:${target.password}@127.0.0.1:${server.address().port}`,
    /** Milliseconds of each commit since the last time. */
    take: () => commits.splice(0),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
