// `npm run chaos -- --turns N [--seed S] [--minutes M]`: load from many sessions while services and the NATS server are
// killed or paused at random; at the end everything that was accepted is held against what was answered and kept.
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { projectRoot, startTroupe } from "@troupe/testkit";
import { Client } from "./client.mjs";
import { delayFigures, slowest } from "./delays.mjs";
import { Downtime } from "./downtime.mjs";
import { EventFollower } from "./event-follower.mjs";
import { Journal } from "./journal.mjs";
import { Record } from "./record.mjs";
import { figuresOf, printFindings, printTable, writeReport } from "./report.mjs";
import { drawBlows } from "./blow-draw.mjs";
import { CHANNEL_MODES, drawSessions } from "./schedule.mjs";
import { inTurns, settle } from "./settle.mjs";
import { Strikes } from "./strikes.mjs";
import { talk } from "./talk.mjs";
import { judge, judgeErasure, Verdict } from "./verdict.mjs";

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "300" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    minutes: { type: "string", default: "600" },
    sessions: { type: "string", default: "24" },
    gap: { type: "string", default: "25" },
    orchestrators: { type: "string", default: "2" },
    gateways: { type: "string", default: "2" },
    report: { type: "string" },
  },
});
const number = (name) => Number(values[name]);
const [turns, seed] = [number("turns"), number("seed")];
const reportPath = values.report ?? join(projectRoot, ".cache", "chaos", `report-${seed}.json`);
const PATIENCE_MS = 90_000;
const SETTLE_MS = 45_000;

const sessions = drawSessions(seed, turns);
const blows = drawBlows(seed, {
  turns,
  gap: number("gap"),
  orchestrators: number("orchestrators"),
  gateways: number("gateways"),
});
console.log(`chaos: seed ${seed}, ${turns} turns in ${sessions.length} sessions, ${blows.length} blows`);

const journal = new Journal();
const downtime = new Downtime({ orchestrators: number("orchestrators") });
const verdict = new Verdict();
const model = fork(fileURLToPath(new URL("played-model.mjs", import.meta.url)));
const [{ url: modelUrl }] = await once(model, "message");
let modelCalls = 0;
model.on("message", ({ asked, session, invalid = [], stale = [] }) => {
  if (asked) modelCalls += 1;
  const name = sessions[session?.slice(1)]?.name ?? null;
  for (const fault of invalid) verdict.add("invalid histories", name, null, `as the model was shown it: ${fault}`);
  for (const fault of stale) verdict.add("remains after delete", name, null, fault);
});
const troupe = await startTroupe({
  orchestrators: number("orchestrators"),
  gateways: number("gateways"),
  env: { OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: "none" },
  config: `channels:\n${Object.entries(CHANNEL_MODES)
    .map(([name, mode]) => `  ${name}: { secondMessage: ${mode} }`)
    .join("\n")}\n`,
});
try {
  await run();
} finally {
  await troupe.stop();
  model.disconnect();
}

async function run() {
  const ports = new Map();
  for (const gateway of troupe.gateways) ports.set(gateway, String(await gateway.field("HTTP gateway open", "port")));
  const record = await Record.open(troupe, journal);
  const urls = [...ports.values()].map((port) => `http://127.0.0.1:${port}`);
  const client = new Client({ urls, token: troupe.token, journal, downtime, patienceMs: PATIENCE_MS });
  const strikes = new Strikes({ troupe, journal, downtime, blows, ports });
  await strikes.meet();
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  const { begun, followers } = await load({ client, record, strikes });
  const loaded = seconds();
  for (const text of await strikes.calm()) verdict.add("stuck", null, null, `could not be brought back: ${text}`);
  const calm = seconds();
  for (const { session, unrest } of await settle({ record, journal }, begun, SETTLE_MS)) {
    verdict.add("stuck", session.name, null, unrest.join("; "));
  }
  const settled = seconds();
  await judgeAll({ client, record, followers, begun });
  const counts = {
    turns: begun.flatMap(({ messages }) => messages).filter(({ acceptedAt }) => acceptedAt !== undefined).length,
    sessions: begun.length,
    "model calls": modelCalls,
    revisions: [...record.laws.values()].reduce((sum, { revisions }) => sum + revisions, 0),
    "seconds of load": loaded,
    "seconds until all ran again": calm - loaded,
    "seconds until all was at rest": settled - calm,
    "seconds to judge": seconds() - settled,
    ...delayFigures(begun.flatMap(({ messages }) => messages)),
    "leases left to run out": [...record.laws.values()].filter(({ entry }) => entry?.lease).length,
    ...strikes.counts,
  };
  await record.close();
  finish(counts, slowest(begun, journal));
}

/** So many sessions at a time; a session that has said all makes room for the next. */
async function load({ client, record, strikes }) {
  const endAt = performance.now() + number("minutes") * 60_000;
  const begun = [];
  const followers = new Map();
  let over = 0;
  const rest = sessions.values();
  const hand = async () => {
    for (const session of rest) {
      if (performance.now() > endAt) return;
      begun.push(session);
      const unwatch = await record.watch(session.name, (entry, before) => strikes.onRevision(entry, before));
      if (session.isWatched) followers.set(session.name, new EventFollower(client, session.name, session));
      await talk({
        client,
        session,
        isTimeUp: () => performance.now() > endAt,
        over: () => strikes.onTurns(++over),
        erased: () => onErased(record, session),
        failed: ({ name }, text) => verdict.add("stuck", name, null, text),
      });
      unwatch();
    }
  };
  await Promise.all(Array.from({ length: number("sessions") }, hand));
  return { begun, followers };
}

/** Nothing may be left; what the services did late is looked for again at the end. */
async function onErased(record, session) {
  const { name } = session;
  const [entry, outbox, stored] = [await record.look(name), await record.finals(name), await record.stored(name)];
  session.bornAt = entry?.fields.generation ?? 0;
  journal.note(name, `erased: generation ${session.bornAt}`);
  judgeErasure(verdict, { session, entry, outbox, stored });
}

async function judgeAll({ client, record, followers, begun }) {
  await inTurns(begun, async (session) => {
    const { name } = session;
    const outbox = await record.finals(name);
    const last = outbox.findLast(({ final }) => final)?.seq;
    const follower = followers.get(name);
    await follower?.reach(last);
    const history = await client.history(name);
    judge(verdict, {
      session,
      outbox,
      entry: await record.look(name),
      laws: record.laws.get(name),
      history,
      lostBlobs: await record.lostBlobs(name, history),
      stored: await record.stored(name),
      follower,
    });
    await follower?.close();
  });
  for (const { session, text } of client.surprises) verdict.add("refused", session, null, text);
}

function finish(counts, slow) {
  const figures = figuresOf({ verdict, counts });
  printTable(figures, verdict.kinds);
  writeReport(reportPath, {
    seed,
    options: values,
    node: process.version,
    processors: availableParallelism(),
    figures,
    finals: verdict.kinds,
    findings: verdict.findings,
    slow,
  });
  console.log(`\nseed ${seed}; report: ${reportPath}`);
  if (verdict.isGood) return;
  process.exitCode = 1;
  const logPath = reportPath.replace(/(\.json)?$/, ".log");
  writeFileSync(logPath, troupe.logs());
  printFindings(verdict, journal, troupe.logs());
  console.log(`\nall that the services wrote: ${logPath}`);
}
