// The outcome of a run as a table, as JSON, as a page, and, when something is wrong, with what it takes to find out why.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Record } from "./record.mjs";
import { BAD } from "./verdict.mjs";

const SHOWN_FINDINGS = 40;
const SHOWN_SESSIONS = 4;
const SHOWN_LINES = 400;
const SHOWN_LOG_LINES = 200;

export function figuresOf({ verdict, counts }) {
  return { ...counts, ...Object.fromEntries(BAD.map((figure) => [figure, verdict.count(figure)])) };
}

export function printTable(figures, kinds) {
  console.log("\n| what | count |\n| --- | ---: |");
  for (const [name, value] of Object.entries(figures)) {
    console.log(`| ${BAD.includes(name) && value > 0 ? `**${name}**` : name} | ${value} |`);
  }
  for (const [kind, count] of byName(kinds)) console.log(`| finals: ${kind} | ${count} |`);
}

export function writeReport(path, report) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
}

/** For people, to be kept: what was done to the system, what must be 0, and how long people waited. */
export function writePage(path, { at, seed, options, node, nats, processors, figures, finals, findings }) {
  const bad = Object.entries(figures).filter(([name]) => BAD.includes(name));
  const waits = Object.entries(figures).filter(([name]) => /^(ms|takeovers) /.test(name));
  const done = Object.entries(figures).filter((one) => !bad.some(same(one)) && !waits.some(same(one)));
  const verdict = bad.every(([, value]) => value === 0) ? "Nothing is wrong." : "**Something is wrong.**";
  const text = `# Chaos

Load from many sessions with tools, streaming, cancels, resets, erasures, steers, duplicate submissions and failing models,
while services and the NATS server are killed or paused at random. Some sessions are at two messengers with channels of their
own, which repeat what people say, and are slow, busy, silent or refuse: one shows a reply once however often it is sent, the
other whatever it is sent. ${verdict}

Run on ${at} with seed ${seed}: \`npm run chaos -- ${argumentsOf(options)}\` replays the schedule.
Node ${node}, NATS server ${nats}, ${processors} processors.

## What must be 0

${tableOf(bad)}
${findings
  .slice(0, SHOWN_FINDINGS)
  .map(({ figure, session, turn, text: what }) => `- ${figure}: ${session ?? ""} ${turn ?? ""} ${what}\n`)
  .join("")}
## What was done

${tableOf(done)}
## How the messages ended

${tableOf(byName(finals))}
## How long it took

Beyond what was down: without the time in which the NATS server, every orchestrator or the gateway that had been asked was
down. Until shown: from what somebody says at a messenger to its reply there, with all that was down; one whose channel's
process is struck waits for the other to take over. Until a takeover: from the blow that struck an orchestrator to the
commit of whoever went on with one of its turns, likewise; the budget is 15,000 ms for one that is killed, and the aim 5,000.
A message may wait for several blows, for those before it, and for a model that is slow, fails or wants to be left alone.

${tableOf(waits)}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const same =
  ([name]) =>
  ([other]) =>
    other === name;
const byName = (values) => Object.entries(values).sort(([a], [b]) => a.localeCompare(b));
const tableOf = (rows) =>
  `| what | count |\n| --- | ---: |\n${rows.map(([name, value]) => `| ${name} | ${value.toLocaleString("en")} |\n`).join("")}`;

/** Of the options those that make the schedule. */
function argumentsOf(options) {
  return ["turns", "seed", "gap", "sessions", "orchestrators", "gateways", "channels"]
    .map((name) => `--${name} ${options[name]}`)
    .join(" ");
}

/** Findings, and for the first sessions among them all that happened, with what the services wrote about them. */
export function printFindings({ findings }, journal, logs) {
  console.log(`\n${findings.length} findings:`);
  for (const { figure, session, turn, text } of findings.slice(0, SHOWN_FINDINGS)) {
    console.log(`- ${figure}: ${session} ${turn ?? ""} ${text}`);
  }
  const sessions = [...new Set(findings.map(({ session }) => session).filter(Boolean))];
  for (const session of sessions.slice(0, SHOWN_SESSIONS)) {
    console.log(`\n${session} (${Record.keyOf(session)}), what happened around it:`);
    for (const line of journal.around(session).slice(-SHOWN_LINES)) console.log(line);
    const about = findings.filter((finding) => finding.session === session).map(({ turn }) => turn);
    const words = [Record.keyOf(session), session, ...about.filter(Boolean)];
    const lines = logs.split("\n").filter((line) => words.some((word) => line.includes(word)));
    console.log(`what the services wrote about it (${lines.length} lines):`);
    for (const line of lines.slice(-SHOWN_LOG_LINES)) console.log(line.slice(0, 600));
  }
}
