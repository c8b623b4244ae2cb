import type { SessionKey } from "@troupe/contracts";
import { createLogger, createMetrics } from "@troupe/platform";
import { describe, expect, it, vi } from "vitest";
import { UnreadReplies } from "../src/index.js";

const key = "http.a" as SessionKey;
const event = (seq: number, text: string) => ({ key, seq, text });

function scene(bury: (seq: number) => Promise<boolean>) {
  const log = createLogger({ service: "test", level: "silent" });
  const warn = vi.spyOn(log, "warn");
  const metrics = createMetrics("test");
  const dead = { bury: async (seq: number) => ((await bury(seq)) ? { key, reason: "why" } : null) };
  const lines = (): unknown[] => warn.mock.calls.map((call) => call[1]);
  return { unread: new UnreadReplies(dead, { log, metrics }), lines, metrics };
}

describe("replies that cannot be read", () => {
  it("U1 are moved, said and counted by the process that has moved them", async () => {
    const moved: number[] = [];
    const { unread, lines, metrics } = scene(async (seq) => moved.push(seq) === 1);
    for (const text of ["{", '{"v":1,"id":"x","kind":"other"}']) unread.look(event(moved.length + 1, text));
    await vi.waitFor(() => expect(moved).toHaveLength(2));
    await unread.stop();
    expect(lines()).toEqual(["gave up on reply: look at it with `troupe dead list`"]);
    expect(await metrics.text()).toMatch(/troupe_dead_letters_total\{.*kind="reply".*\} 1$/m);
  });

  it("U1 are tried again while DEAD is away, and that is said once", async () => {
    let tries = 0;
    const { unread, lines } = scene(async () => {
      tries += 1;
      if (tries < 4) throw new Error("away");
      return true;
    });
    unread.look(event(1, "{"));
    await vi.waitFor(() => expect(tries).toBe(4), 10_000);
    await unread.stop();
    expect(lines()).toHaveLength(2);
  });

  it("U2 are left alone when a newer version can read them, and said once each", async () => {
    const { unread, lines } = scene(() => Promise.reject(new Error("not to be touched")));
    for (const seq of [1, 1, 2, 1]) unread.look(event(seq, '{"v":9}'));
    await unread.stop();
    expect(lines()).toEqual([expect.stringMatching(/left to a newer service/), expect.anything()]);
  });
});
