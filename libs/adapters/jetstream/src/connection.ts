import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import {
  connect,
  type ConnectionOptions,
  credsAuthenticator,
  errors,
  type NatsConnection,
} from "@nats-io/transport-node";
import { type Bus, busOn } from "./bus.js";
import { BusError } from "./bus-error.js";
import { jetStreamState } from "./jetstream-state.js";
import { Wire } from "./wire.js";

/** Where the server is and who we are to it. */
export interface NatsTarget {
  /** `nats://host:port` or `tls://host:port`; several, separated by commas, are one cluster. */
  readonly url: string;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly credsFile?: string;
}

export interface ConnectRequest {
  readonly target: NatsTarget;
  /** Shown in the server's list of connections. */
  readonly name: string;
  /** How long the first connection is tried for; default ten seconds. */
  readonly waitMs?: number;
}

/** Message schedules came with it. */
const NEEDED = { major: 2, minor: 12 };
const DIAL_TIMEOUT_MS = 3_000;
const RETRY_MS = 250;
/**
 * A peer that is halted or vanished without closing is noticed after the third of these, so within nine seconds: before
 * a lease is over, and long after any pause of a busy machine. A process that was halted itself has its answers in the
 * socket and reads them between two pings.
 */
const PING_MS = 3_000;
const UNANSWERED_PINGS = 2;

/**
 * Connects, trying for `waitMs`, and checks that the server is one we can work with. Afterwards the
 * client reconnects for ever by itself. Rejects with a `BusError`.
 */
export async function connectBus({ target, name, waitMs = 10_000 }: ConnectRequest): Promise<Bus> {
  const options = await optionsFor(target, name);
  const deadline = performance.now() + waitMs;
  for (;;) {
    const tried = await tryOnce(options, target);
    if (tried.ok) return busOn(tried.wire);
    if (!tried.again || performance.now() + RETRY_MS > deadline) throw tried.error;
    await delay(RETRY_MS);
  }
}

type Tried =
  | { readonly ok: true; readonly wire: Wire }
  | { readonly ok: false; readonly error: BusError; readonly again: boolean };

async function tryOnce(options: ConnectionOptions, target: NatsTarget): Promise<Tried> {
  let nc: NatsConnection;
  try {
    nc = await connect(options);
  } catch (cause) {
    return dialFailure(cause, target);
  }
  const version = nc.info?.version ?? "";
  if (!isNewEnough(version)) {
    await nc.close();
    const error = new BusError(`NATS server ${version} is too old: ${NEEDED.major}.${NEEDED.minor} or newer is needed`);
    return { ok: false, error, again: false };
  }
  const wire = new Wire(nc);
  const state = await jetStreamState(wire);
  if (state === "on") return { ok: true, wire };
  wire.close();
  await nc.close();
  const where = placeOf(target);
  if (state === "off") {
    return { ok: false, error: new BusError(`JetStream is off on the NATS server at ${where}`), again: false };
  }
  return { ok: false, error: new BusError(`JetStream on the NATS server at ${where} does not answer`), again: true };
}

function dialFailure(cause: unknown, target: NatsTarget): Tried {
  const where = placeOf(target);
  if (cause instanceof errors.AuthorizationError) {
    return { ok: false, error: new BusError(`NATS at ${where} refuses the credentials`), again: false };
  }
  const reason = cause instanceof Error ? firstLine(cause.message) : String(cause);
  const error = new BusError(`NATS is not reachable at ${where}: ${reason || "connection refused"}`, { cause });
  return { ok: false, error, again: true };
}

async function optionsFor(target: NatsTarget, name: string): Promise<ConnectionOptions> {
  const servers = target.url.split(",").map((url) => readUrl(url.trim()));
  const user = target.user ?? servers[0]?.user;
  const pass = target.pass ?? servers[0]?.pass;
  const token = target.token ?? servers[0]?.token;
  return {
    servers: servers.map((server) => server.address),
    name,
    ...(user === undefined ? {} : { user, pass: pass ?? "" }),
    ...(token === undefined ? {} : { token }),
    ...(target.credsFile === undefined ? {} : { authenticator: credsAuthenticator(await readCreds(target.credsFile)) }),
    ...(servers.some((server) => server.tls) ? { tls: {} } : {}),
    timeout: DIAL_TIMEOUT_MS,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    reconnectJitter: RETRY_MS,
    // A server may come up before its users are configured.
    ignoreAuthErrorAbort: true,
    pingInterval: PING_MS,
    maxPingOut: UNANSWERED_PINGS,
    noAsyncTraces: true,
  };
}

interface ReadUrl {
  readonly address: string;
  readonly tls: boolean;
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
}

function readUrl(text: string): ReadUrl {
  const full = text.includes("://") ? text : `nats://${text}`;
  if (!URL.canParse(full)) throw new BusError("the NATS URL is not valid: expected nats://host:port");
  const url = new URL(full);
  return {
    address: `${url.hostname}:${url.port || "4222"}`,
    tls: url.protocol === "tls:",
    ...loginIn(url),
  };
}

/** A name without a password is a token. */
function loginIn({ username, password }: URL): Pick<ReadUrl, "user" | "pass" | "token"> {
  if (username === "") return {};
  if (password === "") return { token: decodeURIComponent(username) };
  return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
}

async function readCreds(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new BusError(`the NATS credentials file ${path} cannot be read`, { cause });
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > NEEDED.major || (major === NEEDED.major && minor >= NEEDED.minor);
}

/** Host and port, never the credentials that a URL may hold. */
function placeOf(target: NatsTarget): string {
  return target.url
    .split(",")
    .map((url) => readUrl(url.trim()).address)
    .join(", ");
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
