import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readAll } from "node:stream/consumers";

export const TOKEN = "a-token-for-tests";

export interface FakeTurn {
  readonly session: string;
  readonly turn: string;
  readonly text: string;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly lastEventId: string | undefined;
}

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

interface Message {
  readonly index: number;
  readonly turn: string;
  readonly role: string;
  readonly [field: string]: unknown;
}

/** A gateway played at the wire, in the shapes of the HTTP API; the test decides what each turn does. */
export class FakeGateway {
  readonly requests: SeenRequest[] = [];
  readonly turns: FakeTurn[] = [];
  readonly cancelled: string[] = [];
  /** Called for every new turn. */
  onTurn: (turn: FakeTurn) => void = () => undefined;
  onCancel: (session: string) => void = () => undefined;
  /** Answers that go before the usual ones: the first that matches is used up. */
  readonly refusals: { readonly match: RegExp; readonly reply: Reply | "hang up" }[] = [];

  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #streams = new Map<string, Set<ServerResponse>>();
  readonly #durable: { session: string; id: number; frame: string }[] = [];
  readonly #byMessageId = new Map<string, FakeTurn>();
  readonly #finals = new Map<string, object>();
  readonly #logs = new Map<string, Message[]>();
  readonly #waiters = new Set<() => void>();

  static async start(port = 0): Promise<FakeGateway> {
    const gateway = new FakeGateway();
    gateway.#server.listen(port, "127.0.0.1");
    await once(gateway.#server, "listening");
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Sends an event that is lost to whoever is not connected. */
  live(session: string, kind: string, data: object): void {
    for (const stream of this.#streams.get(session) ?? []) stream.write(frame(kind, data));
  }

  /** Sends an event that can be resumed; whether it is kept from those connected now decides `unseen`. */
  durable(session: string, kind: string, data: object, { unseen = false } = {}): void {
    const id = this.#durable.length + 1;
    const text = `id: ${id}\n${frame(kind, data)}`;
    this.#durable.push({ session, id, frame: text });
    if (!unseen) for (const stream of this.#streams.get(session) ?? []) stream.write(text);
  }

  final({ session, turn }: FakeTurn, final: Partial<Record<string, unknown>>, options?: { unseen?: boolean }): void {
    const index = this.log(session, { turn, role: "assistant", content: final.text ?? "" });
    const whole = {
      turn,
      kind: "answer",
      text: "",
      introduction: null,
      index,
      at: "2026-01-02T03:04:05.678Z",
      error: null,
      mergedInto: null,
      ...final,
    };
    this.#finals.set(turn, whole);
    this.durable(session, "final", whole, options);
    for (const wake of this.#waiters) wake();
  }

  log(session: string, message: { turn: string; role: string; [field: string]: unknown }): number {
    const log = this.#logs.get(session) ?? [];
    this.#logs.set(session, log);
    log.push({ ...message, index: log.length, at: "2026-01-02T03:04:05.678Z" });
    return log.length - 1;
  }

  /** Breaks every event stream, as a gateway that restarts does. */
  dropStreams(): void {
    for (const streams of this.#streams.values()) for (const stream of streams) stream.destroy();
  }

  connected(session: string): number {
    return this.#streams.get(session)?.size ?? 0;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "" } = request;
    const body = await readAll(request);
    const lastEventId = request.headers["last-event-id"]?.toString();
    this.requests.push({ method, path: url, body, lastEventId });
    const refusal = this.refusals.findIndex(({ match }) => match.test(`${method} ${url}`));
    if (refusal >= 0) {
      const reply = this.refusals.splice(refusal, 1)[0]?.reply;
      if (reply === "hang up" || reply === undefined) return void request.socket.destroy();
      return send(response, reply);
    }
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      return send(response, { status: 401, body: { title: "Unauthorized", code: "unauthorized" } });
    }
    const { pathname, searchParams } = new URL(url, this.url);
    const [, session = "", action = ""] = /^\/v1\/sessions\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    const name = decodeURIComponent(session);
    if (name === "") return this.#list(response, searchParams);
    if (action === "events") return this.#events(name, lastEventId, response);
    if (action === "messages" && method === "POST")
      return this.#message(name, JSON.parse(body), searchParams, response);
    const log = this.#logs.get(name);
    if (log === undefined)
      return send(response, { status: 404, body: { title: "Not Found", detail: "no such session" } });
    if (action === "cancel") return this.#cancel(name, response);
    if (action === "reset") {
      this.#logs.set(name, []);
      return send(response, { status: 200, body: { generation: 2 } });
    }
    if (action === "messages") {
      const from = Number(searchParams.get("from"));
      const messages = log.slice(from, from + Number(searchParams.get("limit")));
      return send(response, { status: 200, body: { session: name, from, next: null, total: log.length, messages } });
    }
    send(response, { status: 200, body: { session: name, messageCount: log.length, turn: this.#running(name) } });
  }

  #running(session: string): object | null {
    const turn = this.turns.find((each) => each.session === session && !this.#finals.has(each.turn));
    return turn === undefined ? null : { id: turn.turn, status: "running", since: "", steps: 1 };
  }

  #list(response: ServerResponse, query: URLSearchParams): void {
    const all = [...this.#logs].map(([session, log]) => ({
      session,
      messageCount: log.length,
      updatedAt: "2026-01-02T03:04:05.678Z",
      turn: this.#running(session),
    }));
    const wanted = all.filter(({ session }) => session.startsWith(query.get("channel") ?? ""));
    const from = Number(query.get("cursor") ?? 0);
    const to = from + Math.min(2, Number(query.get("limit"))); // Small pages, so that a client has to turn them.
    const body = { sessions: wanted.slice(from, to), next: to < wanted.length ? String(to) : null };
    send(response, { status: 200, body });
  }

  #events(session: string, lastEventId: string | undefined, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": hello\n\n");
    if (lastEventId !== undefined) {
      for (const event of this.#durable) {
        if (event.session === session && event.id > Number(lastEventId)) response.write(event.frame);
      }
    }
    const streams = this.#streams.get(session) ?? new Set();
    this.#streams.set(session, streams.add(response));
    response.on("close", () => streams.delete(response));
  }

  async #message(
    session: string,
    { id, text }: { id: string; text: string },
    query: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> {
    const known = this.#byMessageId.get(`${session} ${id}`);
    const turn = known ?? { session, turn: `t_${this.turns.length + 1}`, text };
    if (known === undefined) {
      this.#byMessageId.set(`${session} ${id}`, turn);
      this.turns.push(turn);
      this.log(session, { turn: turn.turn, role: "user", content: text });
      setImmediate(() => this.onTurn(turn));
    }
    if (Number(query.get("wait")) > 0) await this.#finished(turn.turn, response);
    const final = this.#finals.get(turn.turn);
    const same = { session, turn: turn.turn, duplicate: known !== undefined };
    if (final === undefined) send(response, { status: 202, body: { ...same, status: "queued" } });
    else send(response, { status: 200, body: { ...same, status: "done", final } });
  }

  async #finished(turn: string, response: ServerResponse): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        if (!this.#finals.has(turn) && !response.destroyed) return;
        this.#waiters.delete(wake);
        resolve();
      };
      this.#waiters.add(wake);
      response.on("close", wake);
      wake();
    });
  }

  #cancel(session: string, response: ServerResponse): void {
    const running = this.turns.filter((turn) => turn.session === session && !this.#finals.has(turn.turn));
    this.cancelled.push(session);
    send(response, { status: 200, body: { turn: running[0]?.turn ?? null, cancelled: running.length > 0 } });
    for (const turn of running) this.final(turn, { kind: "cancelled", text: "" });
    this.onCancel(session);
  }
}

function frame(kind: string, data: object): string {
  return `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body ?? {}));
}
