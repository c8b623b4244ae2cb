import { Retention, topology } from "@troupe/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blobStore, type BlobStore, type Bus, provision, StreamFull } from "../src/index.js";
import { keyOf, type NatsFixture, startFixture } from "./nats-fixture.js";

const PIECE = "x".repeat(200_000);
const place = { key: keyOf("a"), generation: 0 };

let fixture: NatsFixture;
let bus: Bus;
let store: BlobStore;
beforeAll(async () => {
  fixture = await startFixture();
  bus = await fixture.connect();
  await provision(bus, topology(Retention.parse({ blobs: { maxBytes: 1024 * 1024 } })));
  store = blobStore(bus);
});
afterAll(() => fixture.stop());

test("a store that is full says so, names itself and the setting that raises it, and keeps what it has", async () => {
  const first = await store.put(place, `0 ${PIECE}`);
  let outcome: Awaited<ReturnType<BlobStore["create"]>> = { kind: "stored" };
  for (let n = 1; n < 10 && outcome.kind === "stored"; n += 1) outcome = await store.create(`http.a.0.n${n}`, PIECE);
  const reason = expect.stringMatching(/^[^\n]*\(blobs\) is full: raise retention\.blobs\.maxBytes/);
  expect(outcome).toEqual({ kind: "full", reason });
  await expect(store.put(place, `1 ${PIECE}`)).rejects.toThrow(StreamFull);
  expect(await blobStore(bus).get(place, first)).toBe(`0 ${PIECE}`);
});

test("what a full store has already is stored", async () => {
  expect(await store.create("http.a.0.n1", PIECE)).toEqual({ kind: "stored" });
});

test("a store that does not answer is not full", async () => {
  const cut = await fixture.connect();
  const closing = blobStore(cut);
  await cut.close();
  await expect(closing.create("http.a.0.later", "text")).rejects.toThrow("closed");
});
