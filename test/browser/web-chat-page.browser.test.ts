import { describe, expect, it, vi } from "vitest";
import { Conversation } from "../system/conversation.js";
import { findChromium } from "./chromium.js";
import { useChat } from "./use-chat.js";

const executable = findChromium();
if (executable === null)
  console.warn("the web chat is not tested: no Chromium found (set CHROMIUM_BIN, or install one)");

describe.skipIf(executable === null)("the page of the web chat", () => {
  const { system, open, openSignedOut } = useChat(executable ?? "");

  it("says how to sign in, and after the link keeps the token out of the address", async () => {
    const { url, token } = system();
    const tab = await openSignedOut();
    await tab.page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    expect(await tab.barriers("light")).toEqual([]);
    expect(await tab.barriers("dark")).toEqual([]);
    expect(await tab.overflow(320)).toEqual([]);
    await tab.page.goto(`${url}/?token=wrong`);
    await tab.page.getByRole("alert").waitFor();
    await tab.page.goto(`${url}/?token=${token}`);
    await tab.page.getByRole("textbox", { name: "Message" }).waitFor();
    expect(tab.page.url()).not.toContain(token);
    expect(await tab.page.evaluate("document.cookie")).toBe("");
    // A browser that follows a link from another site keeps the cookie back at first.
    await tab.page.goto(`data:text/html,<a href="${url}/">there</a>`);
    await tab.page.getByRole("link").click();
    await tab.page.getByRole("textbox", { name: "Message" }).waitFor();
  });

  it("shows what people and models write as text, whatever it is", async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script> [x](javascript:alert(3)) \`<b onclick=alert(4)>\``;
    const tab = await open("evil");
    await tab.send(evil);
    await tab.answered("echo: ");
    system().model.enqueue((_request, respond) =>
      respond.calls([{ id: "c1", name: "echo", arguments: { text: "<svg onload=alert(5)>" } }]),
    );
    system().model.enqueue((_request, respond) =>
      respond.text("```<i onclick=alert(6)>\n<iframe src=//e.example>\n```"),
    );
    await tab.send("# <h1 onclick=alert(7)>\n| <td> |\n|---|\n| <script>alert(8)</script> |");
    await tab.answered("<iframe src=//e.example>");
    await tab.page.locator(".tool summary").click();
    const shown = await tab.page.locator("#turns").textContent();
    expect(shown).toContain(evil);
    for (const text of ["<svg onload=alert(5)>", "<h1 onclick=alert(7)>"]) expect(shown).toContain(text);
    const made = "#turns :is(img, script, iframe, svg, h1, i, b, a, [onclick], [onerror], [onload])";
    expect(await tab.page.locator(made).count()).toBe(0);
    expect(await tab.page.locator("#sessions img").count()).toBe(0);
  });

  it("fits 320, 390 and 1280 pixels and is open to everybody, whatever is said", async () => {
    const wide = `| ${"column | ".repeat(20)}\n|${"---|".repeat(20)}\n| ${"cell | ".repeat(20)}`;
    const text = [
      "w".repeat(400),
      `\`${"c".repeat(300)}\` https://example.com/${"u".repeat(300)}`,
      "مرحبا بالعالم 👩‍👩‍👧‍👦🎭",
      `- ${"i".repeat(200)}\n> ${"q".repeat(200)}`,
      wide,
      `\`\`\`${"l".repeat(80)}\n${"x".repeat(500)}\n\`\`\``,
      "ten thousand characters of text ".repeat(313),
    ].join("\n\n");
    const tab = await open("wide");
    system().model.enqueue((_request, respond) => respond.text(text));
    await tab.send(`${"v".repeat(300)} 🎉 שלום`);
    await tab.answered("ten thousand");
    expect((await tab.page.locator(".answer").textContent())?.length).toBeGreaterThan(10_000);
    for (const width of [320, 390, 1280]) expect(await tab.overflow(width), `at ${width}`).toEqual([]);
    for (const scheme of ["light", "dark"] as const) expect(await tab.barriers(scheme), scheme).toEqual([]);
    await tab.page.setViewportSize({ width: 390, height: 800 });
    await tab.page.getByRole("button", { name: "Conversations" }).click();
    await tab.page.locator("#sidebar.open").waitFor();
    for (const scheme of ["light", "dark"] as const) expect(await tab.barriers(scheme), scheme).toEqual([]);
    await tab.page.keyboard.press("Escape");
    await tab.page.getByRole("button", { name: "Start this conversation over" }).click();
    for (const scheme of ["light", "dark"] as const) expect(await tab.barriers(scheme), scheme).toEqual([]);
  });

  it("holds no connection while nobody looks and nothing is waited for, and misses nothing", async () => {
    const tab = await open("hidden");
    const streams = (): Promise<number> =>
      system().gateways[0]?.metric("troupe_http_open_streams") ?? Promise.resolve(0);
    const look = async (hidden: boolean): Promise<void> => {
      await tab.page.evaluate(`Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`);
    };
    await vi.waitFor(async () => expect(await streams()).toBe(1));
    await look(true);
    await vi.waitFor(async () => expect(await streams()).toBe(0));
    await new Conversation(system(), "hidden").say("from elsewhere");
    await look(false);
    await tab.answered("echo: from elsewhere");
    expect(await tab.transcript()).toEqual(["from elsewhere", "echo: from elsewhere"]);
    expect(await tab.page.locator("#banner").isHidden()).toBe(true);
  });

  it("switches conversations, and keeps what is written and not sent in each", async () => {
    const tab = await open("one");
    await tab.send("here is one");
    await tab.answered("echo: here is one");
    await tab.page.locator("#text").fill("a draft");
    await tab.page.getByRole("button", { name: "New conversation" }).click();
    await tab.page.locator("#empty:visible").waitFor();
    expect(await tab.page.locator("#text").inputValue()).toBe("");
    await tab.page.getByRole("link", { name: "here is one" }).click();
    await tab.answered("echo: here is one");
    expect(await tab.page.locator("#text").inputValue()).toBe("a draft");
  });

  it("does not send on the Enter that ends a composition, nor on Shift Enter", async () => {
    const tab = await open("ime");
    await tab.page.locator("#text").fill("にほん");
    await tab.page.evaluate(`document.getElementById("text").dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }))`);
    await tab.page.keyboard.press("Shift+Enter");
    await tab.page.keyboard.type("go");
    expect(await tab.page.locator("#text").inputValue()).toBe("にほん\ngo");
    expect(await tab.transcript()).toEqual([]);
    await tab.page.keyboard.press("Enter");
    await tab.answered("echo: にほん");
    expect((await tab.transcript())[0]).toBe("にほん\ngo");
  });
});
