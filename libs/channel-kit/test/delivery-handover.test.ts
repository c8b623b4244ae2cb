import type { SessionKey } from "@troupe/contracts";
import { describe, expect, it } from "vitest";
import type { SendOutcome } from "../src/index.js";
import { Office } from "./delivery-office.js";
import { settled } from "./virtual-clock.js";

const A = "webhook.a" as SessionKey;

describe("a delivery desk that others take over from", () => {
  it("B1 B2 a process that was stopped too long acts on none of the bells it had, and on none that lay in its socket", async () => {
    const office = new Office();
    const zombie = office.desk();
    let answer: (outcome: SendOutcome) => void = () => undefined;
    office.outcome = () => new Promise((resolve) => (answer = resolve));
    for (const text of ["one", "two"]) zombie.ring(office.bell(office.add(A, text)));
    await settled();
    office.clock.freeze(20_000);
    // Meanwhile another process delivers what it finds: the first it cannot know about, the second it sends.
    office.outcome = () => ({ kind: "delivered" });
    const other = office.desk();
    for (const event of office.log) other.ring(office.bell(event));
    await settled();
    expect(office.sent).toEqual(["a:two"]);
    const third = office.add(A, "three");
    // The zombie wakes: it learns what became of its own send, and touches nothing else.
    zombie.ring(office.bell(third));
    answer({ kind: "delivered" });
    await office.clock.advance(2_000);
    expect(office.sent).toEqual(["a:two", "a:one"]);
    expect(office.ledger.records().map(({ status }) => status)).toEqual(["confirmed", "confirmed"]);
    // A bell that comes later is its own again.
    zombie.ring(office.bell(third));
    await settled();
    expect(office.sent.at(-1)).toBe("a:three");
    await Promise.all([zombie.stop(), other.stop()]);
  });

  it("lets all bells go when the connection was lost, and sends nothing more under what it held", async () => {
    const office = new Office();
    const cutOff = office.desk();
    office.outcome = () => ({ kind: "not-sent", reason: "away", retryAfterMs: 4_000 });
    cutOff.ring(office.bell(office.add(A, "one")));
    await settled();
    cutOff.lapse();
    office.outcome = () => ({ kind: "delivered" });
    await office.clock.advance(10_000);
    expect(office.sent).toEqual([]);
    expect(office.acked).toEqual([]);
    const next = office.desk();
    next.ring(office.bell({ seq: 1, key: A }));
    await settled();
    expect(office.sent).toEqual(["a:one"]);
    await Promise.all([cutOff.stop(), next.stop()]);
  });

  it("D5 leaves the next process no riddle when the ledger was away as it had to stop", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = () => ({ kind: "not-sent", reason: "away" });
    const write = office.ledger.write.bind(office.ledger);
    let writes = 0;
    office.ledger.write = async (...args) => {
      writes += 1;
      if (writes === 2) throw new Error("the ledger cannot be reached");
      return write(...args);
    };
    desk.ring(office.bell(office.add(A, "one")));
    await settled();
    await desk.stop();
    expect(office.ledger.records().map(({ status }) => status)).toEqual(["waiting"]);
    office.outcome = () => ({ kind: "delivered" });
    const next = office.desk();
    next.ring(office.bell({ seq: 1, key: A }));
    await settled();
    expect(office.sent).toEqual(["a:one"]);
    await next.stop();
  });

  it("leaves no record of a reply that was erased between its reading and its sending", async () => {
    const office = new Office();
    const desk = office.desk();
    const event = office.add(A, "a secret");
    const write = office.ledger.write.bind(office.ledger);
    office.ledger.write = async (...args) => {
      const revision = await write(...args);
      office.remove(event.seq);
      return revision;
    };
    desk.ring(office.bell(event));
    await settled();
    expect(office.sent).toEqual([]);
    expect(office.ledger.records()).toEqual([]);
    expect(office.acked).toEqual([1]);
    await desk.stop();
  });

  it.each<[string, (office: Office) => void]>([
    ["others took over", () => undefined],
    [
      "the record could not be removed at first",
      ({ ledger }) => {
        const remove = ledger.remove.bind(ledger);
        ledger.remove = async () => {
          ledger.remove = remove;
          throw new Error("the ledger cannot be reached");
        };
      },
    ],
  ])("D5 leaves no record of a reply that was erased behind its claim when %s", async (_what, plant) => {
    const office = new Office();
    const desk = office.desk();
    const event = office.add(A, "a secret");
    plant(office);
    const write = office.ledger.write.bind(office.ledger);
    office.ledger.write = async (...args) => {
      const revision = await write(...args);
      office.remove(event.seq);
      desk.lapse();
      return revision;
    };
    desk.ring(office.bell(event));
    await settled();
    await desk.stop();
    expect(office.sent).toEqual([]);
    expect(office.ledger.records()).toEqual([]);
  });

  it("holds a thousand conversations at once and gives back what is over that", async () => {
    const office = new Office();
    const desk = office.desk();
    office.outcome = () => new Promise(() => undefined);
    const taken = Array.from({ length: 1_200 }, (_, n) => {
      const event = office.add(`webhook.c${n}` as SessionKey, "x");
      return desk.ring(office.bell(event, desk));
    });
    expect(taken.filter(Boolean)).toHaveLength(1_000);
    expect(office.given).toHaveLength(200);
  });

  it("stops when what is under way has ended and is recorded, and begins nothing more", async () => {
    const office = new Office();
    const desk = office.desk();
    let answer: (outcome: SendOutcome) => void = () => undefined;
    office.outcome = () => new Promise((resolve) => (answer = resolve));
    for (const text of ["one", "two"]) desk.ring(office.bell(office.add(A, text)));
    await settled();
    let stopped = false;
    const stopping = desk.stop().then(() => (stopped = true));
    await settled();
    expect(stopped).toBe(false);
    answer({ kind: "delivered" });
    await stopping;
    expect(office.sent).toEqual(["a:one"]);
    expect(office.acked).toEqual([1]);
    expect(office.ledger.records().map(({ status }) => status)).toEqual(["confirmed"]);
  });
});
