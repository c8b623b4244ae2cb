// `npm run bench [-- --seconds 8 --fsync --clients 1,16,64]`: turns through the real processes, next to the bare model call.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startTroupe } from "@troupe/testkit";
import { exchange, load } from "./load.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "8" },
    clients: { type: "string", default: "1,16,64" },
    orchestrators: { type: "string", default: "1" },
    fsync: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const TURNS_PER_SESSION = 20;

const model = fork(fileURLToPath(new URL("instant-model.mjs", import.meta.url)));
const [{ url: modelUrl }] = await once(model, "message");
const troupe = await startTroupe({
  orchestrators: Number(values.orchestrators),
  env: { OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: "none" },
  nats: values.fsync ? { config: "jetstream { sync_interval: always }" } : {},
});

const authorization = `Bearer ${troupe.token}`;
const run = Math.random().toString(36).slice(2, 8);
const sessionOf = ({ number, turn }) => `http:bench-${run}-${number}-${Math.floor(turn / TURNS_PER_SESSION)}`;

const ways = {
  "bare model call": ({ agent }) =>
    exchange(agent, `${modelUrl}/chat/completions`, {
      body: { model: "m", stream: true, messages: [{ role: "user", content: "How are you?" }] },
    }),
  "streamed (/v1/chat/completions)": (at) =>
    exchange(at.agent, `${troupe.url}/v1/chat/completions`, {
      headers: { authorization, "x-troupe-session": sessionOf(at) },
      body: { model: "troupe", stream: true, messages: [{ role: "user", content: `How are you, ${at.turn}?` }] },
    }),
  "waited (messages?wait)": (at) =>
    exchange(at.agent, `${troupe.url}/v1/sessions/${encodeURIComponent(`${sessionOf(at)}w`)}/messages?wait=30`, {
      headers: { authorization },
      body: { text: `How are you, ${at.turn}?` },
    }),
};

/** Proportional set size of processes, MiB: shared pages are counted once. */
function pssOf(pids) {
  const kib = pids.map((pid) =>
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0),
  );
  return Math.round(kib.reduce((sum, one) => sum + one, 0) / 1024);
}
const pids = () => [troupe.nats.pid, ...troupe.orchestrators.map((x) => x.pid), ...troupe.gateways.map((x) => x.pid)];

try {
  const rest = pssOf(pids());
  console.log(`| what | clients | turns/s | p50 ms | p99 ms | errors |\n| --- | --- | --- | --- | --- | --- |`);
  for (const [name, ask] of Object.entries(ways)) {
    for (const clients of values.clients.split(",").map(Number)) {
      await load({ clients, seconds: 1, ask });
      const { perSecond, p50, p99, errors } = await load({ clients, seconds, ask });
      console.log(
        `| ${name} | ${clients} | ${perSecond.toFixed(0)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${errors} |`,
      );
    }
  }
  console.log(
    `\nmemory (PSS, NATS, gateway and orchestrator): ${rest} MiB at rest, ${pssOf(pids())} MiB after the load`,
  );
  console.log(
    `writes ${values.fsync ? "on disk before they are acknowledged" : "acknowledged before they are on disk"}; Node ${process.version}`,
  );
} finally {
  await troupe.stop();
  model.disconnect();
}

// A section of its own, on an installation of its own.
await import("./long-conversation.mjs");
