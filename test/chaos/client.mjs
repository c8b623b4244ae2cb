// A client as clients should be: it sends a message under its id again and again, at any gateway, until it knows.
import { setTimeout as delay } from "node:timers/promises";
import { canonical } from "./canonical.mjs";
import { noteTaken } from "./taken.mjs";

const REQUEST_LIMIT_MS = 9_000;
const WAIT_SECONDS = 6;
const LONGEST_PAUSE_MS = 500;
/** Refusals that pass: a gateway that stood still finds that a request took too long to arrive. */
const PASSING = [408, 429];

export class Client {
  #urls;
  #token;
  #journal;
  #downtime;
  #patienceMs;
  #turn = 0;
  /** Answers that no client should get. */
  surprises = [];

  constructor({ urls, token, journal, downtime, patienceMs }) {
    this.#urls = urls;
    this.#token = token;
    this.#journal = journal;
    this.#downtime = downtime;
    this.#patienceMs = patienceMs;
  }

  /** Sends until it is accepted, or, with `final`, until its final is here; false when patience ends first. */
  async send(session, message, { final }) {
    const path = `/messages${final ? `?wait=${WAIT_SECONDS}` : ""}`;
    const isEnough = () => (final ? message.final !== undefined : message.acceptedAt !== undefined);
    return this.#insist(session, `post ${message.tag}`, async () => {
      message.sentAt ??= this.#journal.tick();
      message.askedMs ??= this.#journal.ageMs;
      const wasKnown = message.acceptedAt !== undefined;
      const { status, body } = await this.#noted(message, () =>
        this.#ask(session, path, { method: "POST", json: { text: message.text, id: message.id } }),
      );
      if (status === 200 || status === 202) this.#take(session, message, { ...body, wasKnown });
      return { status, body, isOver: isEnough() };
    });
  }

  /** Asks for what is known already, if it was answered: the same turn and the same final must come back. */
  async again(session, message) {
    const { final } = message;
    if (final === undefined) return;
    message.final = undefined;
    await this.send(session, message, { final: true });
    message.final ??= final;
  }

  /** The same over the OpenAI-compatible route, streamed. */
  async chat(session, message) {
    return this.#insist(session, `chat ${message.tag}`, async () => {
      message.sentAt ??= this.#journal.tick();
      const response = await this.#fetch("/v1/chat/completions", {
        method: "POST",
        json: { model: "troupe", stream: true, messages: [{ role: "user", content: message.text }] },
        headers: { "x-troupe-session": session, "idempotency-key": message.id },
      });
      const text = await response.text();
      const isOver = response.status === 200 && text.includes("[DONE]") && !text.includes('"error"');
      if (isOver) {
        message.acceptedAt ??= this.#journal.tick();
        message.shown = contentOf(text);
      }
      return { status: response.status, body: text.slice(-300), isOver };
    });
  }

  /** `cancel` or `reset`; 404 and 503 are fine answers to it. */
  control(session, kind) {
    return this.#insist(session, kind, async () => {
      const { status, body } = await this.#ask(session, `/${kind}`, { method: "POST" });
      return { status, body, isOver: status === 200 || status === 404 };
    });
  }

  /** Until it is gone, or was so already. */
  erase(session) {
    return this.#insist(session, "erase", async () => {
      const { status, body } = await this.#ask(session, "", { method: "DELETE" });
      return { status, body, isOver: status === 204 || status === 404 };
    });
  }

  /** All messages; processes may still be struck, so it is asked for again and again. */
  async history(session) {
    let history;
    const isThere = await this.#insist(session, "history", async () => {
      const { status, body, found } = await this.#wholeHistory(session);
      history = found;
      return { status, body, isOver: found !== undefined };
    });
    if (!isThere) throw new Error("its history cannot be had");
    return history;
  }

  async #wholeHistory(session) {
    const messages = [];
    for (let from = 0; ; ) {
      const { status, body } = await this.#ask(session, `/messages?from=${from}&limit=1000`);
      if (status === 404) return { status, found: { generation: null, total: 0, messages } };
      if (status !== 200) return { status, body };
      messages.push(...body.messages);
      if (body.next === null || body.messages.length === 0) return { status, found: { ...body, messages } };
      from = body.next;
    }
  }

  events(session, lastEventId, signal) {
    return this.#fetch(`/v1/sessions/${encodeURIComponent(session)}/events`, {
      headers: { "last-event-id": String(lastEventId) },
      signal,
    });
  }

  #take(session, message, { wasKnown, final, ...told }) {
    noteTaken(message, told, { journal: this.#journal, wasKnown });
    if (final === undefined) return;
    this.#journal.note(session, `final of ${message.tag} ${told.turn}: ${final.kind} ${final.error?.code ?? ""}`);
    message.finals = new Set([...(message.finals ?? []), canonical(final)]);
    message.final ??= final;
    message.delay ??= this.#delayOf(message);
  }

  /** From the first sending to the final, and what of it was in the way of any system. */
  #delayOf({ askedMs: from, requests }) {
    const to = this.#journal.ageMs;
    const open = requests.map((request) => ({ ...request, to: request.to ?? to }));
    return { from, to, tookMs: to - from, excusedMs: this.#downtime.excusedMs({ from, to }, open) };
  }

  /** Keeps in mind which gateway was asked about a message, and when. */
  async #noted(message, ask) {
    const request = { gateway: this.#turn % this.#urls.length, from: this.#journal.ageMs };
    message.requests = [...(message.requests ?? []), request];
    try {
      return await ask();
    } finally {
      request.to = this.#journal.ageMs;
    }
  }

  async #insist(session, what, attempt) {
    const endAt = performance.now() + this.#patienceMs;
    for (let pauseMs = 50; performance.now() < endAt; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const { status, body, isOver } = await attempt();
        this.#journal.note(session, `${what}: ${status}${status > 204 ? ` ${JSON.stringify(body)}` : ""}`);
        if (isOver) return true;
        if (status > 204 && status < 500 && !PASSING.includes(status)) {
          this.surprises.push({ session, text: `${what}: ${status} ${JSON.stringify(body)}` });
          return false;
        }
        // It waits at the gateway already; only refusals call for a pause.
        if (status <= 204) continue;
      } catch (error) {
        this.#journal.note(session, `${what}: ${error.cause?.code ?? error.name}`);
      }
      await delay(pauseMs);
    }
    this.#journal.note(session, `${what}: patience ended`);
    return false;
  }

  async #ask(session, path, options) {
    const response = await this.#fetch(`/v1/sessions/${encodeURIComponent(session)}${path}`, options);
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  }

  #fetch(path, { method = "GET", json, headers = {}, signal = AbortSignal.timeout(REQUEST_LIMIT_MS) } = {}) {
    const url = this.#urls[this.#turn++ % this.#urls.length];
    return fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal,
    });
  }
}

function contentOf(stream) {
  return stream
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? "")
    .join("");
}
