// The outcome of a run as a table, as JSON, and, when something is wrong, with what it takes to find out why.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Record } from "./record.mjs";
import { BAD } from "./verdict.mjs";

const SHOWN_FINDINGS = 40;
const SHOWN_SESSIONS = 4;
const SHOWN_LINES = 160;
const SHOWN_LOG_LINES = 60;

export function figuresOf({ verdict, counts }) {
  return { ...counts, ...Object.fromEntries(BAD.map((figure) => [figure, verdict.count(figure)])) };
}

export function printTable(figures, kinds) {
  console.log("\n| what | count |\n| --- | ---: |");
  for (const [name, value] of Object.entries(figures)) {
    console.log(`| ${BAD.includes(name) && value > 0 ? `**${name}**` : name} | ${value} |`);
  }
  for (const [kind, count] of Object.entries(kinds).sort(([a], [b]) => a.localeCompare(b)))
    console.log(`| finals: ${kind} | ${count} |`);
}

export function writeReport(path, report) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
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
