import type { SessionLine } from "./api-answer.js";
import { byId, element } from "./element.js";
import type { GatewayApi } from "./gateway-api.js";
import { SessionTitles } from "./session-titles.js";
import { timeAgo } from "./time-ago.js";

const PAGE = 100;
/** Titles are read for so many of the newest: each costs a request. */
const TITLED = 30;

/** The list of conversations, newest first. */
export class SessionList {
  readonly titles: SessionTitles;
  readonly #api: GatewayApi;
  readonly #list = byId("sessions", HTMLElement);
  readonly #more = byId("more-sessions", HTMLButtonElement);
  readonly #chosen: () => void;
  readonly #lines = new Map<string, SessionLine>();
  #current = "";
  #next: string | null = null;
  #loading: Promise<void> | null = null;
  #again = false;

  /** @param chosen called when the person picks one, after the address has changed */
  constructor(api: GatewayApi, chosen: () => void) {
    this.#api = api;
    this.#chosen = chosen;
    this.titles = new SessionTitles(api);
    this.#more.addEventListener("click", () => void this.#load(this.#next));
  }

  /** The conversation that is open; it is listed whether or not it exists yet. */
  set current(session: string) {
    this.#current = session;
    this.show();
  }

  /** Reads the list anew. Calls while one is under way are answered by one more. */
  async refresh(): Promise<void> {
    this.#again = true;
    this.#loading ??= this.#loadAll();
    await this.#loading;
  }

  show(): void {
    const focused = this.#list.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    const entries = this.#sorted().map((line) => this.#entry(line));
    this.#list.replaceChildren(...entries);
    this.#more.hidden = this.#next === null;
    if (focused === null) return;
    for (const link of this.#list.querySelectorAll("a")) if (link.getAttribute("href") === focused) link.focus();
  }

  async #loadAll(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#load(null);
    }
    this.#loading = null;
  }

  async #load(cursor: string | null): Promise<void> {
    try {
      const page = await this.#api.sessions(cursor, PAGE);
      if (cursor === null) this.#lines.clear();
      for (const line of page.sessions) this.#lines.set(line.session, line);
      this.#next = page.next;
    } catch {
      return; // The old list serves until the connection is back; the page says that it is gone.
    }
    this.show();
    const newest = this.#sorted().slice(0, TITLED);
    const untitled = newest.filter(({ messageCount }) => messageCount > 0);
    void this.titles.load(
      untitled.map(({ session }) => session),
      () => this.show(),
    );
  }

  #sorted(): SessionLine[] {
    const lines = [...this.#lines.values()].toSorted((one, other) => other.updatedAt - one.updatedAt);
    if (this.#current === "" || this.#lines.has(this.#current)) return lines;
    return [{ session: this.#current, messageCount: 0, updatedAt: Date.now(), busy: false }, ...lines];
  }

  #entry({ session, messageCount, updatedAt, busy }: SessionLine): HTMLElement {
    const channel = session.slice(0, session.indexOf(":"));
    const isNew = !this.#lines.has(session) && !this.titles.knows(session);
    const title = element("span", "session-title", isNew ? "New conversation" : this.titles.title(session));
    title.dir = "auto";
    const facts = [channel === "http" ? "" : channel, busy ? "working…" : timeAgo(updatedAt), messages(messageCount)];
    const meta = element("span", "session-meta", isNew ? "nothing said yet" : facts.filter(Boolean).join(" · "));
    const link = element("a", "session", title, meta);
    link.href = `#${encodeURIComponent(session)}`;
    link.title = session;
    if (session === this.#current) link.setAttribute("aria-current", "page");
    link.addEventListener("click", this.#chosen);
    return element("li", "", link);
  }
}

function messages(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 message" : `${count} messages`;
}
