import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ChannelWorld, lawsFor } from "@troupe/channel-kit/testing";
import { Messenger } from "./messenger.js";
import { messengerChannel } from "./messenger-channel.js";

describe.each(["unsafe", "harmless"] as const)("a channel whose resend is %s", (resend) => {
  let messenger: Messenger;
  beforeEach(async () => {
    messenger = await Messenger.start(resend === "harmless");
  });
  afterEach(() => messenger.stop());

  it.each(lawsFor({ resend }))("$title", async ({ run }) => {
    const world: ChannelWorld = {
      channel: messengerChannel(messenger.url, resend),
      conversation: "a person",
      mood: (mood) => messenger.mood(mood),
      shown: async () => messenger.shown("a person"),
      say: async (messageId, text) => {
        await vi.waitFor(() => expect(messenger.listeners).toBe(1));
        return messenger.say("a person", messageId, text);
      },
    };
    await run(world);
  });
});
