import { encodeToken, outboxSubject, type SessionKey } from "@troupe/contracts";
import type { StoredEntry } from "@troupe/kernel";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type Bus,
  inboundLedger,
  livePublisher,
  liveSubscriber,
  outboxFeed,
  publishPort,
  sessionReader,
  statePort,
} from "../src/index.js";
import { eventually } from "./condition.js";
import { keyOf, type NatsFixture, provisioned, startFixture } from "./nats-fixture.js";

let fixture: NatsFixture;
let bus: Bus;

beforeEach(async () => {
  fixture = await startFixture();
  bus = await provisioned(fixture);
});
afterEach(() => fixture.stop());

test("a session is read as it was written last", async () => {
  const reader = sessionReader(bus);
  expect(await reader.read(keyOf("a"))).toBeNull();
  expect(await reader.readFresh(keyOf("a"))).toBeNull();
  const outcome = await statePort(bus).write(keyOf("a"), "text", 0);
  const revision = outcome.kind === "stored" ? outcome.revision : 0;
  expect(await reader.read(keyOf("a"))).toEqual({ revision, text: "text" });
  expect(await reader.readFresh(keyOf("a"))).toEqual({ revision, text: "text" });
});

test("a watch begins with the present entry and tells each new one until stopped", async () => {
  const state = statePort(bus);
  const write = async (key: SessionKey, text: string, revision: number): Promise<number> => {
    const outcome = await state.write(key, text, revision);
    return outcome.kind === "stored" ? outcome.revision : 0;
  };
  let revision = await write(keyOf("a"), "0", 0);
  await write(keyOf("b"), "other", 0);
  const seen: StoredEntry[] = [];
  const stop = await sessionReader(bus).watch(keyOf("a"), (entry) => seen.push(entry));
  for (const text of ["1", "2"]) {
    revision = await write(keyOf("a"), text, revision);
    await eventually(() => seen.at(-1)?.text === text);
  }
  stop();
  const end = await write(keyOf("a"), "3", revision);
  const late: StoredEntry[] = [];
  const stopLate = await sessionReader(bus).watch(keyOf("a"), (entry) => late.push(entry));
  await eventually(() => late.length === 1);
  expect(late).toEqual([{ revision: end, text: "3" }]);
  expect(seen.map((entry) => entry.text)).toEqual(["0", "1", "2"]);
  stopLate();
});

test("keys are listed in order, page by page, of one channel or of all", async () => {
  const state = statePort(bus);
  const token = encodeToken("北京");
  const keys = ["http.b", "http.a", "cli.z", `http.${token.ok ? token.token : ""}`, "cli.a"];
  for (const key of keys) await state.write(key, "{}", 0);
  const reader = sessionReader(bus);
  expect(await reader.keys({ limit: 10 })).toEqual(keys.toSorted());
  const http = keys.filter((key) => key.startsWith("http.")).toSorted();
  expect(await reader.keys({ channel: "http", limit: 2 })).toEqual(http.slice(0, 2));
  expect(await reader.keys({ channel: "http", limit: 2, after: http[1] ?? "" })).toEqual(http.slice(2));
  expect(await reader.keys({ channel: "telegram", limit: 2 })).toEqual([]);
});

test("the inbound ledger keeps the first record of a message, whatever its id looks like", async () => {
  const ledger = inboundLedger(bus);
  const id = "wild > id * with . and 北京\n";
  expect(await ledger.get(keyOf("a"), id)).toBeNull();
  await ledger.record(keyOf("a"), id, { turn: "t_1", digest: "d1" });
  await ledger.record(keyOf("a"), id, { turn: "t_2", digest: "d2" });
  expect(await ledger.get(keyOf("a"), id)).toEqual({ turn: "t_1", digest: "d1" });
  expect(await ledger.get(keyOf("b"), id)).toBeNull();
  expect(await ledger.get(keyOf("a"), `${id}x`)).toBeNull();
});

test("live bodies reach all listeners of a conversation, and only those", async () => {
  const publisher = livePublisher(await fixture.connect("publisher"));
  const subscriber = liveSubscriber(bus);
  const first: string[] = [];
  const second: string[] = [];
  const other: string[] = [];
  const stopFirst = subscriber.subscribe(keyOf("a"), (body) => first.push(body));
  const stopSecond = subscriber.subscribe(keyOf("a"), (body) => second.push(body));
  subscriber.subscribe(keyOf("b"), (body) => other.push(body));
  await eventually(() => {
    publisher.publish(keyOf("a"), "warm");
    return first.length > 0;
  });
  const shared = (): boolean => second.at(-1) === "one";
  publisher.publish(keyOf("a"), "one");
  await eventually(shared);
  expect(first).toEqual(second);
  stopFirst();
  stopFirst();
  publisher.publish(keyOf("a"), "two");
  await eventually(() => second.at(-1) === "two");
  expect(first).not.toContain("two");
  stopSecond();
  const fresh: string[] = [];
  subscriber.subscribe(keyOf("a"), (body) => fresh.push(body));
  await eventually(() => {
    publisher.publish(keyOf("a"), "three");
    return fresh.includes("three");
  });
  expect(second).not.toContain("three");
  expect(other).toEqual([]);
});

test("a preview comes before what is sent after it, and before the end of the connection", async () => {
  const connection = await fixture.connect("publisher");
  const publisher = livePublisher(connection);
  const heard: string[] = [];
  liveSubscriber(bus).subscribe(keyOf("a"), (body) => heard.push(body));
  const feed = outboxFeed(bus);
  await feed.start();
  feed.listen(keyOf("a"), () => heard.push("reply"));
  await eventually(() => {
    publisher.publish(keyOf("a"), "warm");
    return heard.length > 0;
  });
  publisher.publish(keyOf("a"), "preview");
  const effect = { kind: "publish", id: "e1", bell: null, subject: outboxSubject(keyOf("a")), body: {} } as const;
  await publishPort(connection).publish(effect);
  await eventually(() => heard.at(-1) === "reply");
  expect(heard.at(-2)).toBe("preview");
  publisher.publish(keyOf("a"), "last words");
  await connection.close();
  await eventually(() => heard.at(-1) === "last words");
});
