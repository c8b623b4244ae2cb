import type { ScriptedStream, TroupeSystem } from "@troupe/testkit";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { useTroupe } from "../system/use-troupe.js";
import { ChatTab } from "./chat-tab.js";
import { type Browser, startBrowser } from "./chromium.js";

export interface Chat {
  system(): TroupeSystem;
  /** Opens a tab on a session, signed in. */
  open(session: string): Promise<ChatTab>;
  /** Opens a tab that has not signed in. */
  openSignedOut(): Promise<ChatTab>;
  /** The model's answer to this message, in the test's hands. */
  answerTo(match: string): Promise<ScriptedStream>;
  /** Starts the gateway again where it was. */
  restartGateway(): Promise<void>;
}

/** An installation and a browser for the tests of a `describe`. After each, no page may have complained. */
export function useChat(executable: string): Chat {
  const system = useTroupe();
  const tabs: ChatTab[] = [];
  let browser: Browser | undefined;
  const context = () => {
    if (browser === undefined) throw new Error("the browser has not been started");
    return browser.context;
  };
  const kept = (tab: ChatTab): ChatTab => {
    tabs.push(tab);
    return tab;
  };
  beforeAll(async () => {
    browser = await startBrowser(executable);
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const complaints = tabs.flatMap((tab) => tab.complaints);
    await Promise.all(tabs.splice(0).map((tab) => tab.close()));
    // Whatever a test was about: no page may have been refused anything by its own policy, or have thrown.
    expect(complaints).toEqual([]);
  });
  return {
    system,
    open: async (session) => kept(await ChatTab.open(context(), system(), session)),
    openSignedOut: async () => {
      await context().clearCookies();
      return kept(await ChatTab.openAt(context(), system().url));
    },
    answerTo: (match) =>
      new Promise((resolve) => {
        const undo = system().model.when(match, (_request, respond) => {
          undo();
          resolve(respond.stream());
        });
      }),
    restartGateway: async () => {
      await system().gateways[0]?.start({ TROUPE_HTTP_PORT: new URL(system().url).port });
    },
  };
}

export function endAnswer(stream: ScriptedStream): void {
  stream.finish();
  stream.done();
}
