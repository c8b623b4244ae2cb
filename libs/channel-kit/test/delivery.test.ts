import type { SessionKey } from "@troupe/contracts";
import { describe, expect, it, vi } from "vitest";
import { type Channel, Delivery, type Reply, type SendOutcome } from "../src/index.js";
import { type SimulationEnd, simulate, type World } from "./delivery-simulation.js";
import { MemoryLedger } from "./memory-ledger.js";

const SEEDS = 2_000;

/** What must hold at the end of any schedule; undefined when it does. */
function brokenIn({ shown, status }: SimulationEnd, resend: Channel["resend"]): string | undefined {
  if (shown > 1) return `shown ${shown} times`;
  if (status === "confirmed" && shown !== 1) return "confirmed, and not shown";
  if (status === "rejected" && shown !== 0) return "rejected, and shown";
  if (status !== "confirmed" && status !== "rejected" && status !== "unsettled") return `left ${status}`;
  if (resend === "harmless" && status === "unsettled") return "unsettled, though it could be sent again";
  return undefined;
}

async function firstBroken(world: World): Promise<{ readonly seed: number; readonly why: string } | undefined> {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const why = brokenIn(await simulate(seed, world), world.resend);
    if (why !== undefined) return { seed, why };
  }
  return undefined;
}

describe("D1–D6 whatever fails, dies or hangs, and whoever else delivers at the same time", () => {
  it("a channel that may show twice is sent to at most once without being sure, and the rest is flagged", async () => {
    expect(await firstBroken({ resend: "unsafe" })).toBeUndefined();
  });

  it("a channel that can be told twice shows every reply once", async () => {
    expect(await firstBroken({ resend: "harmless" })).toBeUndefined();
  });

  it("D5 nothing is flagged whose sends all had a known outcome, however often processes hand over", async () => {
    let confirmed = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const { status, shown } = await simulate(seed, { resend: "unsafe", handsOver: true });
      expect(status, `seed ${seed}`).toBe(shown === 1 ? "confirmed" : "rejected");
      confirmed += shown;
    }
    expect(confirmed).toBeGreaterThan(SEEDS / 2);
  });

  it("finds a channel that shows twice and says that it does not", async () => {
    expect(await firstBroken({ resend: "harmless", dedups: false })).toMatchObject({ why: /^shown \d+ times$/ });
  });

  it("finds a ledger that does not compare before it sets", async () => {
    const ledger: World["ledger"] = (real) => ({
      ...real,
      write: async (place, text) => real.write(place, text, (await real.read(place))?.revision ?? 0),
    });
    expect(await firstBroken({ resend: "unsafe", ledger })).toBeDefined();
  });
});

describe("one reply", () => {
  const key = "webhook.a" as SessionKey;
  const reply = { id: "r_1", session: "webhook:a", conversation: "a", turn: "t_1", kind: "answer", text: "x" } as const;

  function delivery(send: (reply: Reply) => Promise<SendOutcome>, sender = "p1", ledger = new MemoryLedger()) {
    const channel = { resend: "unsafe", send } as const;
    const hurry = new AbortController().signal;
    const isWanted = async () => true;
    const ports = { ledger, channel, hurry, isWanted, now: () => 0, maxAttempts: 3, sendLimitMs: 600_000 };
    return { ledger, delivery: new Delivery(ports, { place: { key, id: reply.id }, seq: 7, reply, sender }) };
  }
  const ours = (): boolean => true;
  /** As an author says it whom no compiler holds. */
  const said = (value: unknown): SendOutcome => value as SendOutcome;

  it("D1 is in the ledger as being sent when it is sent, and confirmed with its receipt afterwards", async () => {
    const { ledger, delivery: one } = delivery(async () => {
      expect(ledger.records()).toMatchObject([{ id: "r_1", seq: 7, status: "sending", attempt: 1, sender: "p1" }]);
      return { kind: "delivered", receipt: "m-99" };
    });
    expect(await one.attempt(ours)).toMatchObject({ kind: "settled", as: "confirmed", wasUnsettled: false });
    expect(ledger.records()).toMatchObject([{ status: "confirmed", receipt: "m-99", reason: null }]);
  });

  it("D2 D6 is sent again while it surely was not sent, and rejected when the attempts are used up", async () => {
    const attempts: number[] = [];
    const { ledger, delivery: one } = delivery(async ({ attempt }) => {
      attempts.push(attempt);
      return { kind: "not-sent", reason: "busy", retryAfterMs: 7 };
    });
    expect(await one.attempt(ours)).toMatchObject({ kind: "again", reason: "busy", attempt: 1, afterMs: 7 });
    expect(await one.attempt(ours)).toMatchObject({ kind: "again" });
    expect(await one.attempt(ours)).toMatchObject({ kind: "settled", as: "rejected" });
    expect(attempts).toEqual([1, 2, 3]);
    expect(ledger.records()[0]?.reason).toBe("not sent in 3 attempts: busy");
  });

  it.each(["rejected", "not-sent", "unknown"] as const)(
    "is told of as it is recorded, cut, when the outside says %s with a book",
    async (kind) => {
      const { ledger, delivery: one } = delivery(async () => ({ kind, reason: "long ".repeat(400_000) }));
      const end = await one.attempt(ours);
      expect(end).toMatchObject({ reason: ledger.records()[0]?.reason });
      expect("reason" in end && String(end.reason).length).toBeLessThan(200);
    },
  );

  it("D3 is left to whoever looks into it when its sender died in the middle", async () => {
    const { ledger, delivery: dying } = delivery(() => new Promise<SendOutcome>(() => undefined), "dying");
    void dying.attempt(ours);
    await Promise.resolve();
    const { delivery: next } = delivery(() => Promise.reject(new Error("sent twice")), "next", ledger);
    expect(await next.attempt(ours)).toMatchObject({ kind: "settled", as: "unsettled" });
    expect(ledger.records()).toMatchObject([{ status: "unsettled", sender: "dying" }]);
  });

  it("D4 is confirmed after all when its sender was only slow", async () => {
    let answer: (outcome: SendOutcome) => void = () => undefined;
    const { ledger, delivery: slow } = delivery(() => new Promise((resolve) => (answer = resolve)), "slow");
    const end = slow.attempt(ours);
    await Promise.resolve();
    const { delivery: next } = delivery(() => Promise.reject(new Error("sent twice")), "next", ledger);
    await next.attempt(ours);
    answer({ kind: "delivered" });
    expect(await end).toMatchObject({ kind: "settled", as: "confirmed", wasUnsettled: true });
    expect(ledger.records()).toMatchObject([{ status: "confirmed" }]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, "7", null, {}])(
    "is sent again at the kit's own pace when the outside asks for a pause of %j",
    async (asked) => {
      const { delivery: one } = delivery(async () => said({ kind: "not-sent", reason: "busy", retryAfterMs: asked }));
      expect(await one.attempt(ours)).toMatchObject({ kind: "again", reason: "busy", afterMs: undefined });
    },
  );

  it.each([undefined, null, "delivered", [], {}, { kind: "ok" }, { kind: 1 }])(
    "D3 is sent once, and flagged, when its send resolves to %j, which is no outcome",
    async (value) => {
      const { ledger, delivery: one } = delivery(async () => said(value));
      const end = await one.attempt(ours);
      expect(end).toMatchObject({ kind: "settled", as: "unsettled", reason: expect.stringMatching(/^send /) });
      expect(ledger.records()).toMatchObject([{ status: "unsettled", attempt: 1 }]);
    },
  );

  it.each([
    [
      { kind: "delivered", receipt: 42 },
      { status: "confirmed", receipt: null },
    ],
    [{ kind: "rejected" }, { status: "rejected", reason: "no reason given" }],
    [
      { kind: "not-sent", reason: 503 },
      { status: "waiting", reason: "no reason given" },
    ],
    [
      { kind: "unknown", reason: null },
      { status: "unsettled", reason: "no reason given" },
    ],
  ])("is recorded as %j says, whatever else is wrong with that", async (value, record) => {
    const { ledger, delivery: one } = delivery(async () => said(value));
    await one.attempt(ours);
    expect(ledger.records()).toMatchObject([record]);
  });

  it("D3 is flagged though what its send throws has no text for a message", async () => {
    const odd = Object.assign(new Error("x"), { message: 503 });
    const { ledger, delivery: one } = delivery(() => Promise.reject(odd));
    expect(await one.attempt(ours)).toMatchObject({ kind: "settled", as: "unsettled" });
    expect(ledger.records()).toMatchObject([{ status: "unsettled" }]);
  });

  it("D5 is told of by whoever writes it down at last, also right before others take over", async () => {
    const { ledger, delivery: one } = delivery(async () => {
      vi.spyOn(ledger, "write").mockRejectedValueOnce(new Error("away"));
      return { kind: "delivered" };
    });
    await expect(one.attempt(ours)).rejects.toThrow("away");
    expect(await one.close()).toMatchObject({ kind: "settled", as: "confirmed" });
    expect(await one.close()).toBeNull();
    expect(ledger.records()).toMatchObject([{ status: "confirmed" }]);
  });

  it("is given back unsent when this process is no longer the one that delivers", async () => {
    const { ledger, delivery: one } = delivery(() => Promise.reject(new Error("sent by the wrong one")));
    expect(await one.attempt(() => false)).toEqual({ kind: "left" });
    const { delivery: next } = delivery(async () => ({ kind: "delivered" }), "next", ledger);
    expect(await next.attempt(ours)).toMatchObject({ as: "confirmed" });
  });

  it("D3 whose record cannot be read is flagged, not sent", async () => {
    const { ledger, delivery: one } = delivery(() => Promise.reject(new Error("sent though nobody can tell")));
    await ledger.write({ key, id: "r_1" }, "{", 0);
    const reason = "its record cannot be read";
    expect(await one.attempt(ours)).toMatchObject({ kind: "settled", as: "unsettled", reason });
    expect(ledger.records()).toMatchObject([{ status: "unsettled", seq: 7, reason }]);
  });

  it("whose record a newer version has written is left to that", async () => {
    const { ledger, delivery: one } = delivery(() => Promise.reject(new Error("sent by the wrong one")));
    await ledger.write({ key, id: "r_1" }, '{"v":9}', 0);
    expect(await one.attempt(ours)).toEqual({ kind: "newer", version: 9 });
    expect(await ledger.read({ key, id: "r_1" })).toMatchObject({ text: '{"v":9}' });
  });
});
