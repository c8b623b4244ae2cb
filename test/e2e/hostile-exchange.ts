import { STATUS_CODES } from "node:http";
import { connect, type Socket } from "node:net";
import type { TroupeSystem } from "@troupe/testkit";
import { expect } from "vitest";
import { z } from "zod";

/** What came back over a bare connection. */
export interface RawAnswer {
  /** 0: nothing that is an answer. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly raw: string;
}

type Address = Pick<TroupeSystem, "url" | "token">;

const LIMIT_MS = 30_000;

export function openSocket({ url }: Pick<Address, "url">): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  // The other side may hang up on us at any time: that is what is tried here.
  socket.on("error", () => undefined);
  return socket;
}

/** Sends these bytes and reads until the server closes, or has said enough. Fails when neither comes within the limit. */
export function exchange(
  address: Pick<Address, "url">,
  pieces: readonly (string | Buffer)[],
  isEnough: (text: string) => boolean = () => false,
  limitMs = LIMIT_MS,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(address);
    const parts: Buffer[] = [];
    const text = (): string => Buffer.concat(parts).toString("utf8");
    const limit = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end within ${limitMs} ms; came: ${text().slice(0, 500)}`));
    }, limitMs);
    socket.on("data", (part) => {
      parts.push(part);
      if (isEnough(text())) socket.destroy();
    });
    socket.on("close", () => {
      clearTimeout(limit);
      resolve(text());
    });
    for (const piece of pieces) socket.write(piece);
  });
}

export interface RawRequest {
  readonly method?: string;
  /** As it stands, nothing is escaped. */
  readonly path?: string;
  /** Added to, or in place of, what a friendly client sends; null: left out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: string | Buffer;
}

/** One request whose every byte is the test's own, on a connection of its own. */
export async function ask(address: Address, request: RawRequest): Promise<RawAnswer> {
  return readAnswer(await exchange(address, bytesOf(address, request), isWhole));
}

export function bytesOf({ url, token }: Address, { method, path = "/v1/sessions", headers = {}, body }: RawRequest) {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const all: Record<string, string | null> = {
    host: new URL(url).host,
    authorization: `Bearer ${token}`,
    // A server that closes while a body is under way makes the kernel throw its answer away.
    ...(bytes === undefined
      ? { connection: "close" }
      : { "content-type": "application/json", "content-length": String(bytes.length) }),
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}\r\n`]));
  const head = `${method ?? (bytes === undefined ? "GET" : "POST")} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return bytes === undefined ? [Buffer.from(head)] : [Buffer.from(head), bytes];
}

export function readAnswer(raw: string): RawAnswer {
  const end = raw.indexOf("\r\n\r\n");
  const [first = "", ...lines] = raw.slice(0, Math.max(0, end)).split("\r\n");
  if (end >= 0 && /^HTTP\/1\.1 1\d\d/.test(first)) return readAnswer(raw.slice(end + 4));
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
  return { status, headers, body: raw.slice(end + 4), raw };
}

function isWhole(raw: string): boolean {
  const { headers, body } = readAnswer(raw);
  return Buffer.byteLength(body) >= Number(headers.get("content-length") ?? Number.POSITIVE_INFINITY);
}

const ProblemBody = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  detail: z.string().min(1),
  code: z.string().regex(/^[a-z_]+$/),
  errors: z.array(z.strictObject({ path: z.string(), message: z.string() })).optional(),
});

/** Nothing of the inside shows in an answer. */
export function expectNoInternals(text: string): void {
  expect(text).not.toMatch(
    /\n\s+at |node_modules|node:internal|\.[jt]s:\d+|(Type|Range|Reference|Syntax)Error|FST_ERR|HPE_/,
  );
}

/** A problem document with this status and, if named, this code. */
export function expectProblem({ status, headers, body, raw }: RawAnswer, expected: number, code?: string): void {
  expect(status, raw.slice(0, 500)).toBe(expected);
  expect(headers.get("content-type"), raw.slice(0, 500)).toMatch(/^application\/problem\+json/);
  const problem = ProblemBody.parse(JSON.parse(body));
  expect(problem).toMatchObject({
    status: expected,
    title: STATUS_CODES[expected],
    ...(code === undefined ? {} : { code }),
  });
  expect(problem.detail.length, "a clear line, not an echo of what was sent").toBeLessThan(1_000);
  expectNoInternals(body);
}
