import type { SessionKey } from "@troupe/contracts";
import { describe, expect, it } from "vitest";
import { Office } from "./delivery-office.js";
import { settled } from "./virtual-clock.js";

const A = "webhook.a" as SessionKey;
const B = "webhook.b" as SessionKey;

describe("the delivery desk", () => {
  it("L1 keeps a conversation's order whatever the order of the bells", async () => {
    const office = new Office();
    const desk = office.desk();
    const events = ["one", "two", "three"].map((text) => office.add(A, text));
    for (const event of events.toReversed()) desk.ring(office.bell(event));
    await settled();
    expect(office.sent).toEqual(["a:one", "a:two", "a:three"]);
    expect(office.acked.toSorted((x, y) => x - y)).toEqual([1, 2, 3]);
    await desk.stop();
  });

  it("lets no conversation wait for another", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = ({ conversation }) =>
      conversation === "a" ? { kind: "not-sent", reason: "away", retryAfterMs: 60_000 } : { kind: "delivered" };
    desk.ring(office.bell(office.add(A, "one"), desk));
    desk.ring(office.bell(office.add(B, "two"), desk));
    desk.ring(office.bell(office.add(A, "three"), desk));
    await settled();
    expect(office.sent).toEqual(["b:two"]);
    expect(office.acked).toEqual([2]);
    // What waits for long holds nothing up here: it is given back, also what comes to it meanwhile.
    desk.ring(office.bell(office.add(A, "four"), desk));
    expect(office.given).toEqual([60_000, 60_000, 60_000]);
    office.outcome = () => ({ kind: "delivered" });
    await office.clock.advance(60_000);
    expect(office.sent).toEqual(["b:two", "a:one", "a:three", "a:four"]);
    await desk.stop();
  });

  it("keeps the bells of what waits from ringing elsewhere, and only those", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = () => ({ kind: "not-sent", reason: "away", retryAfterMs: 4_000 });
    desk.ring(office.bell(office.add(A, "one")));
    await office.clock.advance(3_000);
    expect(office.working).toEqual([1, 1, 1]);
    office.outcome = () => ({ kind: "delivered" });
    await office.clock.advance(10_000);
    office.working.length = 0;
    await office.clock.advance(3_000);
    expect(office.working).toEqual([]);
    await desk.stop();
  });

  it("acks what was delivered before, without sending it again", async () => {
    const office = new Office();
    const first = office.desk();
    const event = office.add(A, "one");
    first.ring(office.bell(event));
    await settled();
    first.ring(office.bell(event));
    const next = office.desk();
    next.ring(office.bell(event));
    await settled();
    expect(office.sent).toEqual(["a:one"]);
    expect(office.acked).toEqual([1, 1, 1]);
    expect(office.ledger.records()).toHaveLength(1);
    await Promise.all([first.stop(), next.stop()]);
  });

  it("L2 does not send what was removed while it waited", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = () => ({ kind: "not-sent", reason: "away", retryAfterMs: 1_000 });
    const secret = office.add(A, "a secret");
    desk.ring(office.bell(secret));
    await settled();
    office.remove(secret.seq);
    office.outcome = () => ({ kind: "delivered" });
    await office.clock.advance(1_000);
    expect(office.sent).toEqual([]);
    expect(office.acked).toEqual([1]);
    await desk.stop();
  });

  it("goes on behind a reply that is rejected or that nobody knows about, and says so", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = ({ text }) =>
      text === "one"
        ? { kind: "rejected", reason: "left" }
        : text === "two"
          ? { kind: "unknown", reason: "cut" }
          : { kind: "delivered" };
    for (const text of ["one", "two", "three"]) desk.ring(office.bell(office.add(A, text)));
    await settled();
    expect(office.sent).toEqual(["a:three"]);
    expect(office.ended).toEqual(["1 rejected", "2 unsettled", "3 confirmed"]);
    await desk.stop();
  });

  it("waits with what only a newer version can read, and with all behind it", async () => {
    const office = new Office();
    const desk = office.desk();
    desk.ring(office.bell(office.add(A, "one", 9)));
    desk.ring(office.bell(office.add(A, "two")));
    await office.clock.advance(29_000);
    expect(office.sent).toEqual([]);
    expect(office.acked).toEqual([]);
    expect(office.newer).toEqual(["1 9"]);
    expect(office.buried).toEqual([]);
    await desk.stop();
  });

  it("goes on behind what is no reply at all when that is in DEAD, and not before", async () => {
    const office = new Office();
    const desk = office.desk();
    office.isDeadAway = true;
    office.log.push({ seq: 1, key: A, text: "{" });
    desk.ring(office.bell({ seq: 1, key: A }));
    desk.ring(office.bell(office.add(A, "two")));
    await settled();
    expect([office.sent, office.acked]).toEqual([[], []]);
    office.isDeadAway = false;
    await office.clock.advance(5_000);
    expect(office.buried).toEqual([1]);
    expect(office.sent).toEqual(["a:two"]);
    expect(office.acked.toSorted((x, y) => x - y)).toEqual([1, 2]);
    await desk.stop();
  });

  it("finds its place again from the channel's floor, and looks at nothing before it", async () => {
    const office = new Office();
    const desk = office.desk();
    office.add(A, "of last year");
    office.floor = 1;
    desk.ring(office.bell(office.add(A, "of today")));
    await settled();
    expect(office.sent).toEqual(["a:of today"]);
    await desk.stop();
  });
});
