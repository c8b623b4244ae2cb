// Clients that ask one after the other, each on a connection of its own, for a while; latencies in milliseconds.
import { Agent, request } from "node:http";

/** One exchange: the whole body is read; rejects unless the status is 200. */
export function exchange(agent, url, { headers = {}, body }) {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      {
        method: "POST",
        agent,
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...headers },
      },
      (response) => {
        let received = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          received += chunk;
        });
        response.on("end", () =>
          response.statusCode === 200 ? resolve(received) : reject(new Error(`${response.statusCode}: ${received}`)),
        );
        response.on("error", reject);
      },
    );
    call.on("error", reject);
    call.end(text);
  });
}

/**
 * Asks until the time is up, or until so many turns are done.
 *
 * @returns {Promise<{ perSecond: number, p50: number, p95: number, p99: number, count: number, errors: number }>}
 */
export async function load({ clients, seconds = Number.POSITIVE_INFINITY, turns = Number.POSITIVE_INFINITY, ask }) {
  const latencies = [];
  let errors = 0;
  let begun = 0;
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1_000;
  const client = async (number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = 0; performance.now() < endAt && begun++ < turns; turn++) {
      const askedAt = performance.now();
      try {
        await ask({ agent, number, turn });
        latencies.push(performance.now() - askedAt);
      } catch (error) {
        errors += 1;
        if (errors === 1) console.error(`bench: ${error.message.slice(0, 300)}`);
      }
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  const took = (performance.now() - startedAt) / 1_000;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
  const quantiles = { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  return { perSecond: latencies.length / took, ...quantiles, count: latencies.length, errors };
}
