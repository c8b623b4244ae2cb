import type { ScriptedStream } from "@troupe/testkit";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useTroupe } from "../system/use-troupe.js";
import { Messenger } from "./messenger.js";
import { type MessengerGateway, startGateway } from "./messenger-gateway.js";

/** Two processes of a channel: one sends the replies, the other has taken the message in and shows how they come. */
const system = useTroupe({ gateways: 0 });
const SOON = { timeout: 20_000 };
const WHO = "a person";

let messenger: Messenger;
const gateways: MessengerGateway[] = [];
beforeEach(async () => {
  messenger = await Messenger.start(false);
  for (let n = 0; n < 2; n += 1) {
    gateways.push(await startGateway(system(), messenger, "unsafe"));
    await vi.waitFor(() => expect(messenger.listeners).toBe(n + 1), SOON);
    // The first to be served one reply is served the next ones.
    if (n === 0) expect(await messenger.say(WHO, "m0", "hello")).toBe(true);
    await vi.waitFor(() => expect(messenger.shown(WHO)).toEqual(["echo: hello"]), SOON);
  }
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  await messenger.stop();
});

it("P3 no preview is shown after the reply, however long the outside takes for one", async () => {
  let answer: ScriptedStream | undefined;
  system().model.when("slowly", (_request, respond) => {
    answer = respond.stream();
    answer.text("one");
  });
  let takeEdit = (): void => undefined;
  const held = new Promise<void>((arrived) => {
    messenger.hook = async (when) => {
      if (when !== "preview") return;
      messenger.hook = () => undefined;
      arrived();
      await new Promise<void>((resolve) => {
        takeEdit = resolve;
      });
    };
  });
  expect(await messenger.say(WHO, "m1", "slowly", 1)).toBe(true);
  await held;
  answer?.text(" two");
  answer?.finish();
  answer?.done();
  await vi.waitFor(async () => {
    expect(await system().orchestrators[0]?.metric("troupe_turns_total")).toBe(2);
  }, SOON);
  // Nobody else waits for that preview.
  expect(await messenger.say("somebody else", "m2", "hi")).toBe(true);
  await vi.waitFor(() => expect(messenger.shown("somebody else")).toEqual(["echo: hi"]), SOON);
  expect(messenger.shown(WHO)).toEqual(["echo: hello"]);
  takeEdit();
  await vi.waitFor(() => expect(messenger.shown(WHO)).toEqual(["echo: hello", "one two"]), SOON);
});
