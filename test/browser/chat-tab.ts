import type { TroupeSystem } from "@troupe/testkit";
import axe from "axe-core";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { z } from "zod";

/** Only a page that hangs takes this long. */
const LIMIT_MS = 30_000;

const AxeResult = z.object({
  violations: z.array(
    z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.object({ html: z.string() })) }),
  ),
});

/** The chat in a browser tab, as a person uses it. */
export class ChatTab {
  readonly page: Page;
  /** What the page complained about: refused by the policy, thrown, or a dialog that nobody asked for. */
  readonly complaints: string[] = [];
  readonly #url: string;

  private constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
    page.setDefaultTimeout(LIMIT_MS);
    page.on("pageerror", (error) => this.complaints.push(`thrown: ${error.message}`));
    page.on("dialog", (dialog) => {
      this.complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (line) => {
      // That a request was refused or failed is the browser's own report, and part of some tests.
      if (line.type() === "error" && !line.text().startsWith("Failed to load resource")) {
        this.complaints.push(line.text());
      }
    });
  }

  /** Opens a tab and signs in. */
  static async open(context: BrowserContext, system: Pick<TroupeSystem, "url" | "token">, session: string) {
    const tab = new ChatTab(await context.newPage(), system.url);
    // The part after "#" outlives the redirect.
    await tab.page.goto(`${system.url}/?token=${system.token}#http:${session}`);
    await tab.#isThere();
    return tab;
  }

  /** Opens a tab without signing in. */
  static async openAt(context: BrowserContext, url: string, path = "/") {
    const tab = new ChatTab(await context.newPage(), url);
    await tab.page.goto(`${url}${path}`);
    return tab;
  }

  /** Loads the page anew on a session, and waits until it is there. */
  async go(session: string): Promise<void> {
    await this.page.goto("about:blank");
    await this.page.goto(`${this.#url}/#http:${session}`);
    await this.#isThere();
  }

  async send(text: string): Promise<void> {
    await this.page.locator("#text").fill(text);
    await this.page.keyboard.press("Enter");
  }

  /** Resolves when this text is shown as (a part of) an answer that is no preview any more. */
  async answered(text: string): Promise<void> {
    await this.answer(text).waitFor();
  }

  answer(text: string): Locator {
    return this.page.locator(".answer:not(.preview)", { hasText: text });
  }

  preview(text: string): Locator {
    return this.page.locator(".answer.preview", { hasText: text });
  }

  line(text: string): Locator {
    return this.page.locator(".line", { hasText: text });
  }

  /** Texts of questions, answers and lines, as they stand on the page. */
  async transcript(): Promise<string[]> {
    const texts = await this.page.locator(".bubble, .answer .prose, .turn .line").allTextContents();
    return texts.map((text) => text.trim());
  }

  /** How far the page, the log and the parts of the transcript are wider than what they lie in. */
  async overflow(width: number): Promise<string[]> {
    await this.page.setViewportSize({ width, height: 800 });
    const wide = await this.page.evaluate(`
      [document.documentElement, ...document.querySelectorAll("body, main, header, #log, .column, .turn, .bubble, .prose, .dock")]
        .filter((node) => node.scrollWidth > node.clientWidth)
        .map((node) => node.tagName + "#" + node.id + "." + node.className + " " + node.scrollWidth + " > " + node.clientWidth)`);
    return z.array(z.string()).parse(wide);
  }

  /** What axe finds that is serious or critical. */
  async barriers(scheme: "light" | "dark"): Promise<string[]> {
    await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await this.page.evaluate(axe.source);
    const result = AxeResult.parse(await this.page.evaluate("axe.run(document, { resultTypes: ['violations'] })"));
    return result.violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
  }

  /** Where the log is scrolled to, and how far from its end that is. */
  async scroll(): Promise<{ top: number; toEnd: number }> {
    const place = await this.page.evaluate(`{
      const { scrollTop, scrollHeight, clientHeight } = document.getElementById("log");
      ({ top: scrollTop, toEnd: scrollHeight - scrollTop - clientHeight });
    }`);
    return z.object({ top: z.number(), toEnd: z.number() }).parse(place);
  }

  async #isThere(): Promise<void> {
    await this.page.locator("#empty:visible, .turn").first().waitFor();
  }

  close(): Promise<void> {
    return this.page.close();
  }
}
