import { connect } from "node:net";
import { eachLine } from "./line-splitter.js";

/** What a NATS server says of itself to anyone who connects, before any login. */
export interface NatsInfo {
  readonly version: string;
  readonly jetstream: boolean;
}

export interface ProbeOptions {
  /** Log in, too. Without it only the greeting is read. */
  readonly login?: { readonly user: string; readonly pass: string };
  /** How long each address may take. Default 3,000. */
  readonly limitMs?: number;
}

/**
 * Reads the greeting of a NATS server. The greeting is one line, sent in the clear even by servers that go on with
 * TLS, so no client library is needed to find out the version.
 *
 * @param urls one or several addresses, separated by commas; the first that answers is taken
 * @throws Error with one line when none answers, or the login is refused
 */
export async function probeNats(urls: string, options: ProbeOptions = {}): Promise<NatsInfo> {
  let failure = new Error("no address of a NATS server is given");
  for (const address of urls.split(",").map((part) => part.trim())) {
    if (address === "") continue;
    try {
      return await probe(address, options);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
  }
  throw failure;
}

function probe(address: string, { login, limitMs = 3_000 }: ProbeOptions): Promise<NatsInfo> {
  const url = new URL(address.includes("://") ? address : `nats://${address}`);
  const where = `${url.hostname}:${url.port || "4222"}`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port || 4222), url.hostname.replace(/^\[|\]$/g, ""));
    const fail = (reason: string): void => {
      socket.destroy();
      reject(new Error(`NATS at ${where}: ${reason}`));
    };
    socket.setTimeout(limitMs, () => fail("no answer"));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      fail(error.code === "ECONNREFUSED" ? "nothing listens there" : error.message),
    );
    socket.on("close", () => fail("closed the connection"));
    let info: NatsInfo | undefined;
    eachLine(socket, (line) => {
      if (info === undefined) {
        info = parseInfo(line);
        if (info === undefined) return fail("this is not a NATS server");
        if (login !== undefined)
          return void socket.write(`CONNECT ${JSON.stringify({ ...login, verbose: false })}\r\nPING\r\n`);
      } else if (line.startsWith("-ERR")) {
        return fail(line.replace(/^-ERR\s*/, "").replaceAll("'", ""));
      } else if (line !== "PONG") return;
      resolve(info);
      socket.destroy();
    });
  });
}

function parseInfo(line: string): NatsInfo | undefined {
  try {
    const value: unknown = JSON.parse(/^INFO (\{.*\})\s*$/.exec(line)?.[1] ?? "");
    if (typeof value !== "object" || value === null || !("version" in value)) return undefined;
    if (typeof value.version !== "string") return undefined;
    return { version: value.version, jetstream: "jetstream" in value && value.jetstream === true };
  } catch {
    return undefined;
  }
}
