import { expect, test } from "vitest";
import { MemoryPorts, simActor } from "../src/testing/index.js";
import type { BlobPort } from "../src/index.js";
import { ActorRun } from "./actor-run.js";

const REASON = "the store is full: raise its limit";
/** The finals of `v` mail are large. */
const actor = simActor();
const answering = {
  start: ({ mail }: { mail: string }, { epoch }: { epoch: number }) => ({
    outcome: Promise.resolve({ mail, epoch }),
    abort: () => undefined,
  }),
};
const full: BlobPort = { create: async () => ({ kind: "full", reason: REASON }) };
const runWith = (blobs: BlobPort) => new ActorRun(actor, answering, undefined, blobs);

const finalsOf = ({ ports }: ReturnType<typeof runWith>): string[] =>
  ports.broker.published
    .filter(({ subject }) => subject === "final")
    .map(({ body }) => `${String(body["mail"])} ${String(body["how"])}`);

test("K12: what needs a store that is full ends with a final that says so, and the conversation goes on", async () => {
  const run = runWith(full);
  for (const text of ["u1", "v2", "u3"]) await run.ring(await run.ports.putMail("k", "in", text));
  expect(finalsOf(run)).toEqual(["u1 answer", "v2 error", "u3 answer"]);
  expect(run.host.size).toBe(0);
  const reasons = run.events.flatMap((event) => (event.kind === "poison" ? [event.reason] : []));
  expect([...new Set(reasons)]).toEqual([REASON]);
});

test("K12: nothing of a commit that was refused for want of room is published", async () => {
  const run = runWith(full);
  await run.ring(await run.ports.putMail("k", "in", "v1"));
  expect(run.ports.broker.published.filter(({ body }) => "blob" in body)).toEqual([]);
});

test("K12: there is room again: it is as if nothing had been", async () => {
  let isFull = true;
  const memory = new MemoryPorts().blobs;
  const run = runWith({ create: (name, text) => (isFull ? full : memory).create(name, text) });
  await run.ring(await run.ports.putMail("k", "in", "v1"));
  isFull = false;
  await run.ring(await run.ports.putMail("k", "in", "v2"));
  expect(finalsOf(run)).toEqual(["v1 error", "v2 answer"]);
});

test("K4: a store of which no answer came is not full: nothing is given up, the bell rings again", async () => {
  let failures = 3;
  const memory = new MemoryPorts().blobs;
  const run = runWith({
    create: (name, text) =>
      failures-- > 0 ? Promise.reject(new Error("no answer in time")) : memory.create(name, text),
  });
  await run.ring(await run.ports.putMail("k", "in", "v1"));
  expect(finalsOf(run)).toEqual(["v1 answer"]);
  expect(run.events.some(({ kind }) => kind === "poison")).toBe(false);
});
