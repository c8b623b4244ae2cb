import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { ensureBuilt } from "@troupe/testkit";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { FakeGateway, TOKEN } from "./fake-gateway.js";

const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

let gateway: FakeGateway;
let data: string;
const children = new Set<ChildProcessWithoutNullStreams>();

// Through a TypeScript loader each of the many starts would take a second of a processor.
beforeAll(ensureBuilt);
beforeEach(async () => {
  gateway = await FakeGateway.start();
  data = await mkdtemp(join(tmpdir(), "troupe-cli-"));
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await gateway.stop();
  await rm(data, { recursive: true });
});

interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

function troupe(
  args: string[],
  { token = TOKEN, env = {} }: { token?: string; env?: Record<string, string> } = {},
): Run {
  const argv = [MAIN, ...args];
  const set = { TROUPE_DATA: data, TROUPE_TOKEN: token, TROUPE_HTTP_PORT: new URL(gateway.url).port, ...env };
  const child = spawn(process.execPath, argv, { env: { PATH: process.env.PATH, ...set } });
  children.add(child);
  child.stdin.on("error", () => undefined);
  const ended = Promise.all([once(child, "close"), readAll(child.stdout), readAll(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code: code as number | null, stdout, stderr }),
  );
  return { child, ended };
}

test("--once prints the final text alone on stdout, and progress on stderr", async () => {
  gateway.onTurn = (turn) => {
    gateway.live(turn.session, "delta", { turn: turn.turn, attempt: 1, seq: 0, text: "a preview" });
    gateway.durable(turn.session, "notice", { turn: turn.turn, level: "info", text: "still\u0007 working" });
  };
  const { child, ended } = troupe(["chat", "--session", "a", "--once", "what", "is", "it?"]);
  await once(child.stderr, "data");
  gateway.final(gateway.turns[0] ?? never(), { text: "the\u001b[31m answer\nin two lines" });
  expect(await ended).toEqual({ code: 0, stdout: "the␛[31m answer\nin two lines\n", stderr: "still␇ working\n" });
  expect(gateway.turns).toEqual([{ session: "http:a", turn: "t_1", text: "what is it?" }]);
});

test("--once sends all of stdin as one message", async () => {
  gateway.onTurn = (turn) => gateway.final(turn, { text: "read" });
  const { child, ended } = troupe(["chat", "--once"]);
  child.stdin.end("  line one\n\nline three 你好\n");
  expect((await ended).stdout).toBe("read\n");
  expect(gateway.turns[0]?.text).toBe("  line one\n\nline three 你好");
  expect(gateway.turns[0]?.session).toMatch(/^http:./);
});

test("--once exits with 1 and one line when the turn fails or is cancelled", async () => {
  const error = { code: "deadline", retryable: true };
  gateway.onTurn = (turn) => gateway.final(turn, { kind: "error", text: "It took\ntoo long.", error });
  const failed = await troupe(["chat", "--once", "hi"]).ended;
  expect(failed).toEqual({
    code: 1,
    stdout: "",
    stderr: "error (deadline): It took too long.\n",
  });
  gateway.onTurn = (turn) => gateway.final(turn, { kind: "cancelled" });
  expect(await troupe(["chat", "--once", "hi"]).ended).toEqual({ code: 1, stdout: "", stderr: "cancelled\n" });
});

test("--once survives a gateway that breaks off: the same message, one turn", async () => {
  gateway.refusals.push({ match: /^POST/, reply: { status: 503, headers: { "retry-after": "0" } } });
  gateway.refusals.push({ match: /^POST/, reply: "hang up" });
  gateway.onTurn = (turn) => gateway.final(turn, { text: "fine" }, { unseen: true });
  const { code, stdout } = await troupe(["chat", "--once", "hi"]).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "fine\n" });
  expect(gateway.turns).toHaveLength(1);
});

test("--once follows a message that was taken into the running turn to its answer", async () => {
  gateway.onTurn = (turn) => {
    gateway.final(turn, { kind: "merged", mergedInto: "t_running" });
    gateway.final({ ...turn, turn: "t_running" }, { text: "the answer to both" });
  };
  const { code, stdout } = await troupe(["chat", "--once", "hi"]).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "the answer to both\n" });
});

test("Ctrl-C during --once cancels the turn and exits with 130", async () => {
  const { child, ended } = troupe(["chat", "--session", "a", "--once", "hi"]);
  await vi.waitFor(() => expect(gateway.turns).toHaveLength(1));
  child.kill("SIGINT");
  expect(await ended).toEqual({ code: 130, stdout: "", stderr: "cancelled\n" });
  expect(gateway.cancelled).toEqual(["http:a"]);
});

test("wrong usage exits with 2", async () => {
  const empty = troupe(["chat", "--once"]);
  empty.child.stdin.end(" \n");
  expect(await empty.ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("needs a message") });
  const runs = [
    ["chat", "stray"],
    ["chat", "--nope"],
    ["sessions", "--limit", "0"],
    ["chat", "--url", "nowhere"],
  ];
  for (const { ended } of runs.map((args) => troupe(args))) expect((await ended).code).toBe(2);
});

test("a gateway that is not there, and a token that is refused, are one line each", async () => {
  const nowhere = { env: { TROUPE_HTTP_PORT: "1" } };
  const runs = [["chat", "--once", "hi"], ["chat"], ["sessions"]].map((args) => troupe(args, nowhere));
  for (const { ended } of runs) {
    const stderr = "no gateway at http://127.0.0.1:1: is `npm start` running?\n";
    expect(await ended).toEqual({ code: 1, stdout: "", stderr });
  }
  const source = "TROUPE_TOKEN or TROUPE_TOKEN_FILE";
  const refused = `the gateway at ${gateway.url} does not accept the token (read from ${source})\n`;
  expect(await troupe(["sessions"], { token: "wrong" }).ended).toMatchObject({ code: 1, stderr: refused });
});

test("a gateway on another port is found by what its start has left in the data folder", async () => {
  await writeFile(join(data, "gateway.json"), JSON.stringify({ url: gateway.url }));
  gateway.onTurn = (turn) => gateway.final(turn, { text: "found" });
  const run = troupe(["chat", "--once", "hi"], { env: { TROUPE_HTTP_PORT: "" } });
  expect(await run.ended).toMatchObject({ code: 0, stdout: "found\n" });
});

test("the local gateway's token is found in the data folder, and goes to no other host", async () => {
  await mkdir(join(data, "keys"));
  await writeFile(join(data, "keys", "http-token"), `${TOKEN}\n`);
  gateway.log("http:a", { turn: "t_1", role: "user", content: "hi" });
  expect((await troupe(["sessions"], { token: "" }).ended).stdout).toContain("http:a");
  const abroad = await troupe(["sessions", "--url", gateway.url.replace("127.0.0.1", "127.0.0.2")], { token: "" })
    .ended;
  expect(abroad.code).toBe(1);
});

test("sessions are a table, or JSON, from as many pages as it takes", async () => {
  for (const name of ["http:a", "http:你好", "telegram:42", "http:d"]) {
    gateway.log(name, { turn: "t_1", role: "user", content: "hi" });
  }
  const env = { TZ: "UTC" };
  const table = await troupe(["sessions", "--channel", "http"], { env }).ended;
  expect(table.stdout.split("\n")).toEqual([
    "SESSION    MESSAGES  UPDATED           TURN",
    "http:a            1  2026-01-02 03:04  -",
    "http:你好         1  2026-01-02 03:04  -",
    "http:d            1  2026-01-02 03:04  -",
    "",
  ]);
  const { stdout } = await troupe(["sessions", "--json", "--limit", "3"], { env }).ended;
  expect(JSON.parse(stdout).sessions.map(({ session }: { session: string }) => session)).toEqual([
    "http:a",
    "http:你好",
    "telegram:42",
  ]);
});

test("without a terminal every line is a message, and the end waits for the answers", async () => {
  gateway.onTurn = (turn) => gateway.final(turn, { text: `answer to ${turn.text}` });
  const { child, ended } = troupe(["chat"]);
  child.stdin.end("one\ntwo\n");
  expect(await ended).toMatchObject({ code: 0, stdout: "answer to one\nanswer to two\n" });
});

test.skipIf(!hasScript())("in a terminal: an answer, Ctrl-D, and the terminal is put back", async () => {
  gateway.onTurn = (turn) => gateway.final(turn, { text: "pong" });
  const terminal = inTerminal(["chat", "--session", "tty"]);
  await terminal.shows("/help lists the commands");
  terminal.type("ping\r");
  await terminal.shows("pong");
  terminal.type("\u0004");
  expect(await terminal.code).toBe(0);
  expect(terminal.seen().endsWith("\u001b[?2004l")).toBe(true);
});

test.skipIf(!hasScript())("in a terminal: Ctrl-C cancels the turn, and twice more leaves", async () => {
  const terminal = inTerminal(["chat", "--session", "tty"]);
  await terminal.shows("/help lists the commands");
  terminal.type("ping\r");
  await terminal.shows("working");
  terminal.type("\u0003");
  await terminal.shows("cancelled");
  expect(gateway.cancelled).toEqual(["http:tty"]);
  terminal.type("\u0003");
  await terminal.shows("Ctrl-C again");
  terminal.type("\u0003");
  expect(await terminal.code).toBe(0);
});

interface Terminal {
  readonly type: (keys: string) => void;
  readonly shows: (text: string) => Promise<void>;
  readonly seen: () => string;
  readonly code: Promise<unknown>;
}

/** Runs the command in a pseudo-terminal, which `script` provides. */
function inTerminal(args: string[]): Terminal {
  const argv = [process.execPath, MAIN, ...args];
  const env = { PATH: process.env.PATH, TERM: "xterm", TROUPE_DATA: data, TROUPE_TOKEN: TOKEN };
  const child = spawn("script", ["-qec", argv.join(" "), "/dev/null"], {
    env: { ...env, TROUPE_HTTP_PORT: new URL(gateway.url).port },
  });
  children.add(child);
  let seen = "";
  child.stdout.on("data", (bytes: Buffer) => (seen += bytes.toString()));
  return {
    type: (keys) => child.stdin.write(keys),
    shows: (text) => vi.waitFor(() => expect(seen).toContain(text)),
    seen: () => seen,
    code: once(child, "close").then(([code]) => code as unknown),
  };
}

function never(): never {
  throw new Error("no message has arrived");
}

function hasScript(): boolean {
  try {
    execFileSync("script", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
