import { spawn } from "node:child_process";
import { once } from "node:events";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeGateway, TOKEN } from "./fake-gateway.js";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

let gateway: FakeGateway;
beforeEach(async () => {
  gateway = await FakeGateway.start();
});
afterEach(() => gateway.stop());

async function dead(...args: string[]) {
  const argv = ["--conditions=troupe-source", "--import", "tsx", MAIN, "dead", ...args];
  const env = { PATH: process.env.PATH, TZ: "UTC", TROUPE_TOKEN: TOKEN, TROUPE_HTTP_PORT: new URL(gateway.url).port };
  const child = spawn(process.execPath, argv, { env, stdio: ["ignore", "pipe", "pipe"] });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "close"),
    readAll(child.stdout),
    readAll(child.stderr),
  ]);
  return { code: code as number | null, stdout, stderr };
}

const answer = (match: RegExp, status: number, body?: unknown): void =>
  void gateway.refusals.push({ match, reply: { status, body } });
const asked = (): string[] => gateway.requests.map(({ method, path }) => `${method} ${path}`);

const item = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  kind: "mail",
  session: "http:a",
  at: "2026-01-02T03:04:05.678Z",
  reason: "the body is\u001b[31m not JSON",
  retryable: true,
  ...more,
});

test("list is a table of as many pages as it takes, and made safe to print", async () => {
  const first = [item("12", { retryable: false }), item("11", { session: "telegram:4", kind: "job" })];
  answer(/dead\?/, 200, { dead: first, next: "11", total: 7 });
  answer(/dead\?/, 200, { dead: [item("9", { kind: null, session: null })], next: "9", total: 7 });
  const { code, stdout } = await dead("list", "--limit", "3", "--kind", "mail", "--session", "a");
  expect(code).toBe(0);
  expect(stdout.split("\n")).toEqual([
    "ID  KIND  SESSION     SINCE             RETRY  REASON",
    "12  mail  http:a      2026-01-02 03:04  no     the body is␛[31m not JSON",
    "11  job   telegram:4  2026-01-02 03:04  yes    the body is␛[31m not JSON",
    "9   -     -           2026-01-02 03:04  yes    the body is␛[31m not JSON",
    "… and 4 more: --limit shows them",
    "",
  ]);
  expect(asked()).toEqual([
    "GET /v1/dead?limit=3&kind=mail&session=http%3Aa",
    "GET /v1/dead?limit=1&kind=mail&session=http%3Aa&cursor=11",
  ]);
});

test("list without any says so, and is JSON when asked", async () => {
  const page = { dead: [], next: null, total: 0 };
  for (const _ of "ab") answer(/dead\?/, 200, page);
  expect(await dead("list")).toEqual({ code: 0, stdout: "no dead letters\n", stderr: "" });
  expect(JSON.parse((await dead("list", "--json")).stdout)).toEqual(page);
});

test("show prints all of a letter, its body last, with nothing that a terminal would obey", async () => {
  const letter = {
    ...item("12", { retryable: false }),
    subject: "mail.session.http.a.in",
    seq: 7,
    refusal: "it would come back",
    truncated: true,
    body: "line one\n\u001b]0;title\u0007two",
  };
  for (const _ of "ab") answer(/^GET \/v1\/dead\/12$/, 200, letter);
  const { code, stdout } = await dead("show", "12");
  expect(code).toBe(0);
  expect(stdout).toBe(
    [
      "id       12",
      "kind     mail",
      "session  http:a",
      "since    2026-01-02 03:04",
      "came by  mail.session.http.a.in (7)",
      "reason   the body is␛[31m not JSON",
      "retry    refused: it would come back",
      "body     only the beginning was kept:",
      "line one",
      "␛]0;title␇two",
      "",
    ].join("\n"),
  );
  expect(JSON.parse((await dead("show", "12", "--json")).stdout)).toEqual(letter);
});

test("retry takes each in turn, goes on after a refusal, and then exits with 1", async () => {
  answer(/POST .*\/3\/retry/, 200, { session: "http:a", outcome: "sent", turn: "t_9", duplicate: false });
  answer(/POST .*\/4\/retry/, 409, { title: "Conflict", detail: "it cannot\u0007 be read", code: "not_retryable" });
  answer(/POST .*\/5\/retry/, 404, { title: "Not Found", detail: "there is no dead letter 5" });
  answer(/POST .*\/6\/retry/, 200, { session: null, outcome: "waiting", turn: null, duplicate: false });
  expect(await dead("retry", "3", "4", "5", "3", "6")).toEqual({
    code: 1,
    stdout: "3: sent again, to be answered in http:a as turn t_9\n6: not needed, a job like it waits already\n",
    stderr: "4: it cannot␇ be read\n5: there is no dead letter 5\n",
  });
});

test("drop removes them", async () => {
  for (const id of [3, 4]) answer(new RegExp(`^DELETE /v1/dead/${id}$`), 204);
  expect(await dead("drop", "3", "4")).toEqual({ code: 0, stdout: "3: dropped\n4: dropped\n", stderr: "" });
  expect(asked()).toEqual(["DELETE /v1/dead/3", "DELETE /v1/dead/4"]);
});

test("a refusal that holds for all ends it at once, with one line", async () => {
  answer(/retry/, 403, { title: "Forbidden", detail: "this needs the role admin or operator" });
  const refused = await dead("retry", "3", "4");
  expect(refused).toEqual({ code: 1, stdout: "", stderr: "this needs the role admin or operator\n" });
  expect(asked()).toHaveLength(1);
});

test("wrong usage exits with 2 and asks nothing", async () => {
  const wrong = [["show", "x"], ["retry"], ["drop", "0"], ["list", "--kind", "letter"], ["bury"]];
  const runs = await Promise.all(wrong.map((args) => dead(...args)));
  expect(runs.map(({ code }) => code)).toEqual(wrong.map(() => 2));
  expect(gateway.requests).toEqual([]);
});
