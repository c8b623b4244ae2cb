import type { SessionKey } from "@troupe/contracts";
import { expect, it } from "vitest";
import { followConversation } from "../src/index.js";

it("hands over what a reader comes by and nobody can read: it may have come when no gateway listened", async () => {
  const key = "http.a" as SessionKey;
  const unread: number[] = [];
  const events = ["{", '{"v":9}'].map((text, n) => ({ key, seq: n + 1, text }));
  const sources = {
    outbox: {
      listen: () => () => undefined,
      replay: async () => events,
      whole: async (event: (typeof events)[0]) => event,
    },
    live: { subscribe: () => () => undefined },
    onUnread: ({ seq }: { seq: number }) => unread.push(seq),
  };
  const told: unknown[] = [];
  await followConversation(sources, key, { after: 0, onEvent: (event) => told.push(event) }).caughtUp;
  expect([unread, told]).toEqual([[1, 2], []]);
});
