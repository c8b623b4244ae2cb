import { expect, test, vi } from "vitest";
import { newEntry } from "../src/entry.js";
import { HOST_DEFAULTS } from "../src/index.js";
import { simActor } from "../src/testing/index.js";
import { ActorRun } from "./actor-run.js";

const actor = simActor();
const { busyDelayMs, silenceMs } = HOST_DEFAULTS;
const idle = { start: () => ({ outcome: new Promise<never>(() => undefined), abort: () => undefined }) };

/** A host that finds the lease of another process on the entry; `renew` is a commit of that one. */
function besideAnother() {
  const run = new ActorRun(actor, idle);
  const { broker } = run.ports;
  const renew = () => {
    const entry = newEntry(actor.schema, broker.log, actor.initial(0));
    const lease = { owner: "other-1", until: run.ports.now() + 60_000 };
    broker.write("k", JSON.stringify({ ...entry, epoch: 1, lease }), broker.read("k")?.revision ?? 0);
  };
  renew();
  let n = 0;
  /** Rings for new mail, and says how the bell was answered. */
  const ring = async () => run.ring(await run.ports.putMail("k", "in", `d${++n}`));
  const offersTaken: string[] = [];
  const answer = () => run.ports.serve("other", (owner) => offersTaken.push(owner) > 0);
  return { run, ring, renew, answer, offersTaken };
}

const busy = [`nak ${busyDelayMs}`];

test("K7: one silent offer does not condemn an owner that answers later", async () => {
  const { run, ring, answer, offersTaken } = besideAnother();
  expect(await ring()).toEqual(busy);
  await run.pass(30_000);
  await answer();
  expect(await ring()).toEqual([]);
  expect(offersTaken).toEqual(["other-1"]);
});

test("K7: silences that lie far apart are no silence in between", async () => {
  const { run, ring } = besideAnother();
  for (let i = 0; i < 3; i++) {
    expect(await ring()).toEqual(busy);
    await run.pass(10_000);
  }
});

test("K7: two bells offered during the same short silence do not condemn an owner", async () => {
  const { run, ring } = besideAnother();
  expect(await ring()).toEqual(busy);
  expect(await ring()).toEqual(busy);
  await run.pass(silenceMs);
  expect(await ring()).toEqual(busy);
});

test("K7: an owner that is silent on every offer is taken for dead after a while", async () => {
  const { run, ring } = besideAnother();
  const begunAt = run.ports.now();
  let answers = await ring();
  for (; answers[0] === busy[0]; answers = await ring()) await run.pass(busyDelayMs);
  expect(answers).toEqual(["ack"]);
  expect(run.ports.now() - begunAt).toBeGreaterThanOrEqual(silenceMs);
  expect(run.ports.now() - begunAt).toBeLessThan(silenceMs + 3 * busyDelayMs);
});

test("K5: a silent owner that commits is given the whole time anew", async () => {
  const { run, ring, renew } = besideAnother();
  for (let i = 0; i < 10; i++) {
    expect(await ring()).toEqual(busy);
    await run.pass(busyDelayMs);
    if (i % 2 === 1) renew();
  }
});

test("K1: a bell of a log that has been replaced is not passed on to an owner who reads the new one", async () => {
  const { run, ring, answer, offersTaken } = besideAnother();
  const { broker } = run.ports;
  await answer();
  const read = broker.read.bind(broker);
  vi.spyOn(broker, "read").mockImplementationOnce((...args) => {
    broker.recreateLog();
    return read(...args);
  });
  expect(await ring()).toEqual(["nak 0"]);
  expect(offersTaken).toEqual([]);
});
