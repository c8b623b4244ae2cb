import { mailSubject, Retention, topology } from "@troupe/contracts";
import { afterEach, expect, test } from "vitest";
import {
  connectBus,
  mailPort,
  mailSender,
  provision,
  publishPort,
  statePort,
  StreamFull,
  TooLarge,
  Unavailable,
} from "../src/index.js";
import { keyOf, type NatsFixture, provisioned, SMALL, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;

afterEach(() => fixture?.stop());

const KEY = keyOf("a");
const SUBJECT = mailSubject("session", KEY, "in");

test("mail is stored once per id, and its body can be read back", async () => {
  fixture = await startFixture();
  const bus = await provisioned(fixture);
  const sender = mailSender(bus);
  const first = await sender.send({ subject: SUBJECT, id: "m1", body: "北京" });
  expect(first.duplicate).toBe(false);
  expect(await sender.send({ subject: SUBJECT, id: "m1", body: "other" })).toEqual({ seq: first.seq, duplicate: true });
  expect(await sender.bodyAt(first.seq)).toBe("北京");
  expect(await sender.bodyAt(first.seq + 1)).toBeUndefined();
  expect((await mailPort(bus, "session").read(KEY, "in", 1, 10)).map((item) => item.text)).toEqual(["北京"]);
});

test("a full MAIL refuses, keeps all it accepted, and takes mail again when there is room", async () => {
  fixture = await startFixture();
  const bus = await fixture.connect();
  await provision(bus, topology(Retention.parse({ mail: { maxBytes: 1024 * 1024 } })));
  const sender = mailSender(bus);
  const body = "x".repeat(100_000);
  let accepted = 0;
  const fill = async (): Promise<void> => {
    for (; ; accepted += 1) await sender.send({ subject: SUBJECT, id: `m${accepted}`, body });
  };
  const refusal = await fill().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(StreamFull);
  expect((refusal as StreamFull).retryAfterMs).toBeGreaterThan(0);
  expect(accepted).toBeGreaterThan(5);
  expect(await mailPort(bus, "session").read(KEY, "in", 1, 100)).toHaveLength(accepted);
  await provision(bus, topology(Retention.parse({ mail: { maxBytes: 2 * 1024 * 1024 } })));
  expect((await sender.send({ subject: SUBJECT, id: `m${accepted}`, body })).duplicate).toBe(false);
});

test("what is over the server's max_payload is TooLarge for mail, too large for state and a rejection for what is published", async () => {
  fixture = await startFixture({ config: "max_payload: 1MB" });
  const bus = await provisioned(fixture);
  const body = "x".repeat(1024 * 1024);
  const cause = await mailSender(bus)
    .send({ subject: SUBJECT, id: "m1", body })
    .catch((error: unknown) => error);
  expect(cause).toBeInstanceOf(TooLarge);
  expect((cause as TooLarge).limit).toBe(1024 * 1024);
  expect(await statePort(bus).write(KEY, body, 0)).toEqual({ kind: "too-large" });
  const effect = { kind: "publish", id: "e", bell: null, subject: "outbox.http.a", body: { body } } as const;
  await expect(publishPort(bus).publish(effect)).rejects.toThrow(/max_payload/);
  expect((await mailSender(bus).send({ subject: SUBJECT, id: "m2", body: "fits" })).duplicate).toBe(false);
});

test("a server that stays away is Unavailable within seconds, and the same id is stored once when it is back", async () => {
  fixture = await startFixture();
  const bus = await provisioned(fixture);
  const sender = mailSender(bus);
  await fixture.server.kill();
  const startedAt = performance.now();
  await expect(sender.send({ subject: SUBJECT, id: "m1", body: "late" })).rejects.toBeInstanceOf(Unavailable);
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  await fixture.server.restart();
  await sender.send({ subject: SUBJECT, id: "m1", body: "late" });
  expect((await sender.send({ subject: SUBJECT, id: "m1", body: "late" })).duplicate).toBe(true);
});

test("mail sent while the server restarts arrives once", async () => {
  fixture = await startFixture();
  const bus = await provisioned(fixture);
  const sender = mailSender(bus);
  const ids = Array.from({ length: 200 }, (_, n) => `m${n}`);
  const sending = Promise.all(ids.map((id) => sender.send({ subject: SUBJECT, id, body: id })));
  await fixture.server.kill();
  await fixture.server.restart();
  await sending;
  const stored = (await mailPort(bus, "session").read(KEY, "in", 1, 500)).map((item) => item.text);
  expect(stored.toSorted()).toEqual(ids.toSorted());
});

test("mail that the server's permissions forbid is refused at once", async () => {
  const permissions = '{ publish: { deny: ["mail.*.telegram.>"] } }';
  const users = `authorization { users: [{ user: gateway, password: gateway, permissions: ${permissions} }] }`;
  fixture = await startFixture({ config: users });
  const target = { url: fixture.server.url, user: "gateway", pass: "gateway" };
  const bus = await connectBus({ target, name: "gateway" });
  await provision(bus, topology(SMALL));
  const startedAt = performance.now();
  const foreign = mailSender(bus).send({ subject: "mail.session.telegram.a.in", id: "m1", body: "forged" });
  await expect(foreign).rejects.toThrow(/not permitted/);
  // What is not answered is given up after five seconds.
  expect(performance.now() - startedAt).toBeLessThan(4_500);
  expect((await mailSender(bus).send({ subject: SUBJECT, id: "m2", body: "own" })).duplicate).toBe(false);
  await bus.close();
});
