// `npm run chaos -- --turns N [--seed S] [--minutes M]`: load from many sessions while services and the NATS server are
// killed or paused at random; all that was accepted is held against what was answered and kept.
import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startTroupe } from "@troupe/testkit";
import { drawBlows } from "./blow-draw.mjs";
import { Client } from "./client.mjs";
import { Court } from "./court.mjs";
import { Delays } from "./delays.mjs";
import { Downtime } from "./downtime.mjs";
import { EventFollower } from "./event-follower.mjs";
import { Journal } from "./journal.mjs";
import { MessengerClient } from "./messenger-client.mjs";
import { readOptions } from "./options.mjs";
import { PlayedChannels } from "./played-channels.mjs";
import { Record } from "./record.mjs";
import { figuresOf, printFindings, printTable, writePage, writeReport } from "./report.mjs";
import { CHANNEL_MODES, drawSessions, RESENDS } from "./schedule.mjs";
import { Screen } from "./screen.mjs";
import { Strikes } from "./strikes.mjs";
import { Takeovers } from "./takeovers.mjs";
import { talk } from "./talk.mjs";
import { Verdict } from "./verdict.mjs";

const PATIENCE_MS = 90_000;
const PROGRESS_MS = 20_000;
const INTERRUPTED = 130;
const SHOWN_LENGTH = 300;

const options = readOptions();
const { number } = options;
const [turns, seed] = [number("turns"), number("seed")];
const [orchestrators, gateways] = [number("orchestrators"), number("gateways")];
const sessions = drawSessions(seed, turns);
const channelProcesses = number("channels") * Object.keys(RESENDS).length;
const blows = drawBlows(seed, { turns, gap: number("gap"), orchestrators, gateways, channels: channelProcesses });
console.log(`chaos: seed ${seed}, ${turns} turns in ${sessions.length} sessions, ${blows.length} blows`);

const journal = new Journal();
const downtime = new Downtime({ orchestrators });
const delays = new Delays();
const screen = new Screen(journal, downtime);
const channels = new PlayedChannels(screen);
const verdict = new Verdict(({ figure, session, text }) =>
  console.log(`found: ${figure}: ${session ?? ""} ${text.slice(0, SHOWN_LENGTH)}`),
);
let modelCalls = 0;
let over = 0;
const steps = { cancel: 0, reset: 0, erase: 0, twins: 0, again: 0 };
const model = fork(fileURLToPath(new URL("played-model.mjs", import.meta.url)));
const [{ url: modelUrl }] = await once(model, "message");
model.on("message", ({ asked, session, invalid = [], stale = [] }) => {
  if (asked) modelCalls += 1;
  const name = sessions[session?.slice(1)]?.name ?? null;
  for (const fault of invalid) verdict.add("invalid histories", name, null, `as the model was shown it: ${fault}`);
  for (const fault of stale) verdict.add("remains after delete", name, null, fault);
});
const troupe = await startTroupe({
  orchestrators,
  gateways,
  env: { OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: "none" },
  config: `channels:\n${Object.entries(CHANNEL_MODES)
    .map(([name, mode]) => `  ${name}: { secondMessage: ${mode} }`)
    .join("\n")}\n`,
});
// Before this the services notice by themselves that they are alone.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, leave);
try {
  await channels.start(troupe, number("channels"));
  await run();
} finally {
  await channels.stop();
  await troupe.stop();
  model.disconnect();
}

async function run() {
  const ports = new Map();
  for (const gateway of troupe.gateways) ports.set(gateway, String(await gateway.field("HTTP gateway open", "port")));
  const record = await Record.open(troupe, journal);
  const urls = [...ports.values()].map((port) => `http://127.0.0.1:${port}`);
  const client = new Client({ urls, token: troupe.token, journal, downtime, patienceMs: PATIENCE_MS });
  const person = new MessengerClient({ channels, operator: client, screen, record, journal, patienceMs: PATIENCE_MS });
  const struck = { ...troupe, channels: channels.services };
  const strikes = new Strikes({ troupe: struck, journal, downtime, blows, ports });
  channels.onSend = (when, pid) => strikes.onSend(when, pid);
  const takeovers = new Takeovers({ downtime, delays, journal });
  const court = new Court({ client, record, journal, verdict, delays, screen, channels });
  await strikes.meet();
  const progress = setInterval(() => tellProgress(strikes, court), PROGRESS_MS).unref();
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  await load({ client, person, record, strikes, takeovers, court });
  const loaded = seconds();
  for (const text of await strikes.calm()) verdict.add("stuck", null, null, `could not be brought back: ${text}`);
  const calm = seconds();
  await court.close();
  clearInterval(progress);
  const counts = {
    ...court.judged,
    ...court.delivered,
    ...screen.counts,
    cancels: steps.cancel,
    resets: steps.reset,
    erasures: steps.erase,
    "messages sent again": steps.twins + steps.again,
    "model calls": modelCalls,
    "seconds of load": loaded,
    "seconds until all ran again": calm - loaded,
    "seconds until all was judged": seconds() - calm,
    ...strikes.counts,
    ...delays.figures,
  };
  const nats = record.serverVersion;
  await record.close();
  finish(counts, nats);
}

/** So many sessions at a time; a session that has said all makes room for the next. */
async function load({ client, person, record, strikes, takeovers, court }) {
  const endAt = performance.now() + number("minutes") * 60_000;
  const rest = sessions.values();
  const onRevision = (entry, before) => {
    strikes.onRevision(entry, before);
    takeovers.onRevision(entry, before);
  };
  const hold = async (session) => {
    const unwatch = await record.watch(session.name, onRevision);
    const follower = session.isWatched ? new EventFollower(client, session.name, session) : undefined;
    channels.expect(session);
    await talk({
      client: session.isAtMessenger ? person : client,
      session,
      isTimeUp: () => performance.now() > endAt,
      begun: (kind) => {
        if (kind in steps) steps[kind] += 1;
      },
      over: () => strikes.onTurns(++over),
      erased: () => court.onErased(session),
      failed: ({ name }, text) => verdict.add("stuck", name, null, text),
    });
    unwatch();
    court.hear(session, follower);
  };
  const hand = async () => {
    for (const session of rest) {
      if (performance.now() > endAt) return;
      await hold(session).catch((error) => verdict.add("stuck", session.name, null, `ended by ${error.stack}`));
    }
  };
  await Promise.all(Array.from({ length: number("sessions") }, hand));
}

function tellProgress({ counts: { kills, pauses } }, { doing }) {
  const megabytes = Math.round(process.memoryUsage().rss / 1024 / 1024);
  const seconds = Math.round(journal.ageMs / 1_000);
  const found = verdict.findings.length;
  console.log(
    `${seconds} s: ${over} of ${turns} turns, ${kills} kills, ${pauses} pauses, ${found} findings, ${megabytes} MB${doing && `, ${doing}`}`,
  );
}

function finish(counts, nats) {
  const figures = figuresOf({ verdict, counts });
  printTable(figures, verdict.kinds);
  const report = {
    at: `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`,
    seed,
    options: options.values,
    ...options.machine,
    nats,
    figures,
    finals: verdict.kinds,
    findings: verdict.findings,
    slow: delays.slowest,
  };
  writeReport(options.report, report);
  if (options.page !== undefined) writePage(options.page, report);
  console.log(`\nseed ${seed}; report: ${options.report}`);
  const isEnough = counts.kills >= number("least-kills");
  if (!isEnough) console.log(`only ${counts.kills} kills: at least ${number("least-kills")} were asked for`);
  if (verdict.isGood && isEnough) return;
  process.exitCode = 1;
  if (verdict.isGood) return;
  const logPath = options.report.replace(/(\.json)?$/, ".log");
  const logs = `${troupe.logs()}\n${channels.logs()}`;
  writeFileSync(logPath, logs);
  printFindings(verdict, journal, logs);
  console.log(`\nall that the services wrote: ${logPath}`);
}

/** Cut off: all services are killed as this process ends, the NATS server by its reaper. */
function leave() {
  console.log("cut off");
  rmSync(troupe.dataFolder, { recursive: true, force: true });
  process.exit(INTERRUPTED);
}
