// `node test/bench/long-conversation.mjs [--turns 200 --rounds 7 --messages 100000]`: what a commit to a long conversation
// costs, and how long it takes to open one, beside a conversation of 300 messages. Both are asked in turns, so that
// whatever else the machine does falls on both alike.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { connectBus } from "@troupe/jetstream";
import { startTroupe } from "@troupe/testkit";
import { watchCommits } from "./commit-watch.mjs";
import { exchange } from "./load.mjs";
import { plantConversation } from "./planted-conversation.mjs";

const { values } = parseArgs({
  // Run after the other sections, it is given their options as well.
  strict: false,
  options: {
    turns: { type: "string", default: "200" },
    rounds: { type: "string", default: "7" },
    messages: { type: "string", default: "100000" },
  },
});
const SHORT = 300;
const LONG = Number(values.messages);
const BUDGET = { ratio: 1.2, openMs: 50 };
const WARM_UP = 20;

const [short, long, scratch] = ["http:short", "http:long", "http:scratch"];

const model = fork(fileURLToPath(new URL("instant-model.mjs", import.meta.url)));
const [{ url: modelUrl }] = await once(model, "message");
const troupe = await startTroupe({ orchestrators: 0, env: { OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: "none" } });
const watch = await watchCommits(troupe.natsUrl);
const orchestrator = await troupe.addOrchestrator({ NATS_URL: watch.url });
const [gateway] = troupe.gateways;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = { authorization: `Bearer ${troupe.token}` };
let asked = 0;

const pathOf = (session) => `${troupe.url}/v1/sessions/${encodeURIComponent(session)}`;

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** One turn, up to its final; its time, and that of the commit that named the final. */
async function turn(session) {
  watch.take();
  const body = { text: `How are you, ${(asked += 1)}?` };
  const ms = await timed(() => exchange(agent, `${pathOf(session)}/messages?wait=30`, { headers, body }));
  return { ms, commitMs: watch.take()[0] ?? Number.NaN };
}

async function get(session, query) {
  const answer = await fetch(`${pathOf(session)}${query}`, { headers });
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${body.slice(0, 200)}`);
}

const median = (numbers) => {
  const sorted = numbers.filter(Number.isFinite).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** Asks both conversations alternately, and each first every other time. */
async function both(rounds, ask) {
  const found = { [short]: [], [long]: [] };
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? [short, long] : [long, short];
    for (const session of order) found[session].push(await ask(session, round));
  }
  return found;
}

function row(what, found, budget) {
  const [a, b] = [median(found[short]), median(found[long])];
  console.log(`| ${what} | ${a.toFixed(2)} | ${b.toFixed(2)} | ${(b / a).toFixed(2)} | ${budget} |`);
}

/** Nobody knows the conversations any more, but both processes have done such work before. */
async function startAfresh() {
  await Promise.all([orchestrator.stop(), gateway.stop()]);
  const port = new URL(troupe.url).port;
  await Promise.all([orchestrator.start({ NATS_URL: watch.url }), gateway.start({ TROUPE_HTTP_PORT: port })]);
  for (let n = 0; n < WARM_UP; n += 1) await turn(scratch);
  for (let n = 0; n < WARM_UP; n += 1) await get(scratch, `/messages?from=${n * 10}&limit=50`);
}

async function commits() {
  for (const session of [short, long]) for (let n = 0; n < WARM_UP; n += 1) await turn(session);
  const found = await both(Number(values.turns), turn);
  const of = (field) => ({ [short]: found[short].map((x) => x[field]), [long]: found[long].map((x) => x[field]) });
  row("commit of an answer", of("commitMs"), `ratio <= ${BUDGET.ratio}`);
  row("whole turn", of("ms"), `ratio <= ${BUDGET.ratio}`);
}

async function openings() {
  const spans = {
    // What a turn costs anyhow, the second one shows.
    "opening: first turn in a new process, less the second": async (session) => {
      const first = await turn(session);
      return first.ms - (await turn(session)).ms;
    },
    "GET the session": (session) => timed(() => get(session, "")),
    "GET its first 100 messages": (session) => timed(() => get(session, "/messages?from=0")),
    "GET 100 from its middle": (session) =>
      timed(() => get(session, `/messages?from=${(session === long ? LONG : SHORT) / 2}`)),
    "GET its last 100": (session) =>
      timed(() => get(session, `/messages?from=${(session === long ? LONG : SHORT) - 100}`)),
  };
  const all = Object.fromEntries(Object.keys(spans).map((name) => [name, { [short]: [], [long]: [] }]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    await startAfresh();
    const order = round % 2 === 0 ? [short, long] : [long, short];
    for (const [name, ask] of Object.entries(spans)) {
      for (const session of order) all[name][session].push(await ask(session));
    }
  }
  for (const [name, found] of Object.entries(all)) row(name, found, `<= ${BUDGET.openMs} ms`);
}

const target = new URL(troupe.natsUrl);
const bus = await connectBus({ target: { url: target.href }, name: "bench" });
try {
  const plantedAt = performance.now();
  const planted = await plantConversation(bus, long, LONG);
  await plantConversation(bus, short, SHORT);
  await plantConversation(bus, scratch, SHORT);
  const took = ((performance.now() - plantedAt) / 1_000).toFixed(1);
  console.log(
    `${LONG} messages planted in ${took} s; the state names ${planted.segments} pieces in ${planted.bytes} bytes`,
  );
  console.log(
    `\n| medians, ms | ${SHORT} messages | ${LONG} messages | ratio | budget |\n| --- | --- | --- | --- | --- |`,
  );
  await commits();
  await openings();
} finally {
  await bus.close();
  agent.destroy();
  await troupe.stop();
  watch.close();
  model.disconnect();
}
