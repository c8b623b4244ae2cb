import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { encode, OutboxMessage, outboxSubject, sessionOfKey } from "@troupe/contracts";
import { publishPort } from "@troupe/jetstream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { followEvents } from "./event-reader.js";
import { startWorld, TOKEN, type World } from "./gateway-harness.js";

const EVENTS = 40;
/** All of them together are far more than socket buffers and the stream's limit take. */
const NOTICE = "x".repeat(300_000);

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

async function publishNotices(session: string): Promise<void> {
  const outbox = publishPort(world.bus);
  const key = sessionOfKey(`http.${session}`)?.key;
  if (key === undefined) throw new Error("no key");
  for (let n = 1; n <= EVENTS; n++) {
    const id = `${session}-${n}`;
    const notice = { turn: null, level: "info" as const, text: `${n} ${NOTICE}` };
    const body = encode(OutboxMessage, {
      v: 1,
      id,
      kind: "notice",
      session: `http:${session}`,
      generation: 0,
      notice,
    });
    await outbox.publish({
      kind: "publish",
      id,
      bell: null,
      subject: outboxSubject(key),
      body: JSON.parse(body),
    });
  }
}

/** A stream whose body is not read before the test says so. */
function openUnread(session: string, lastEventId?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(
      {
        host: "127.0.0.1",
        port: world.gateway.port,
        path: `/v1/sessions/${session}/events`,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
        },
      },
      resolve,
    )
      .on("error", reject)
      .end();
  });
}

/** Reads to the end, or until all events are there; gives their numbers and whether the stream was cut. */
function readAll(stream: IncomingMessage): Promise<{ numbers: number[]; cut: boolean }> {
  return new Promise((resolve) => {
    let text = "";
    const done = (cut: boolean): void => {
      const numbers = [...text.matchAll(/"text":"(\d+) x+"\}\n\n/g)].map((match) => Number(match[1]));
      resolve({ numbers, cut });
      stream.destroy();
    };
    stream.setEncoding("utf8").on("data", (part) => {
      text += part;
      if (new RegExp(`"${EVENTS} x+"\\}\\n\\n$`).test(text.slice(-NOTICE.length - 100))) done(false);
    });
    stream.on("error", () => done(true)).on("end", () => done(true));
  });
}

const all = Array.from({ length: EVENTS }, (_, n) => n + 1);

it("a reader that does not read is cut, without harm to the others, and resumes where it was", async () => {
  const slow = await openUnread("live");
  const quick = await followEvents(world.gateway, "live");
  await publishNotices("live");
  await quick.next(({ data }) => data.includes(`"${EVENTS} x`));
  expect(quick.events).toHaveLength(EVENTS);
  const { numbers, cut } = await readAll(slow);
  expect(cut).toBe(true);
  expect(numbers).toEqual(all.slice(0, numbers.length));
  const last = quick.events[numbers.length - 1]?.id ?? "0";
  const resumed = await readAll(await openUnread("live", last));
  expect([...numbers, ...resumed.numbers]).toEqual(all);
  quick.close();
});

it("a long replay goes at the reader's pace and is not cut", async () => {
  await publishNotices("replayed");
  const slow = await openUnread("replayed", "0");
  // As long as this takes, all of the replay would be pushed if it did not wait for the reader.
  await publishNotices("other");
  expect(await readAll(slow)).toEqual({ numbers: all, cut: false });
});
