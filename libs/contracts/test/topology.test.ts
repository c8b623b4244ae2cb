import { expect, test } from "vitest";
import {
  BUCKET,
  DeliveryRecord,
  digestOf,
  encode,
  OutboxMessage,
  outboxSubject,
  replyIdOf,
  Retention,
  type SessionKey,
  topology,
  turnIdOf,
} from "../src/index.js";

const MIB = 1024 * 1024;
const KEY = "sms.a" as SessionKey;
const TURN = turnIdOf(KEY, "m");
const AT = "2026-01-01T00:00:00.000Z";
/** What the server's files hold of a message besides these: lengths, sequence, time and checksum. */
const storedSize = (...parts: readonly string[]): number => 30 + parts.join("").length;

/** A reply that says nothing, in the conversation with the shortest name. */
function smallestReply(): number {
  const id = `${KEY}:1:0`;
  const final = { turn: TURN, kind: "cancelled", text: "", introduction: null, index: 0, at: AT } as const;
  const body = encode(OutboxMessage, {
    v: 1,
    id,
    kind: "final",
    session: KEY,
    generation: 0,
    final: { ...final, error: null, mergedInto: null },
  });
  return storedSize(outboxSubject(KEY), `NATS/1.0\r\nNats-Msg-Id: ${id}\r\n\r\n`, body);
}

/** A record with a receipt as long as any, or a reason of some lines. */
function largestRecord(): number {
  const id = replyIdOf(TURN);
  const record = {
    v: 1,
    id,
    seq: 1e12,
    status: "unsettled",
    attempt: 1_000,
    sender: crypto.randomUUID(),
    at: AT,
  } as const;
  const body = encode(DeliveryRecord, { ...record, receipt: null, reason: digestOf("why").repeat(3) });
  const headers = "NATS/1.0\r\nNats-Expected-Last-Subject-Sequence: 100000000000\r\n\r\n";
  return storedSize(`$KV.${BUCKET.deliveries}.${KEY}.${id}`, headers, body);
}

test.each([1, 64, 512, 8_192])("the ledger has room for a record of each reply in an OUTBOX of %d MiB", (mebibytes) => {
  const maxBytes = mebibytes * MIB;
  const { buckets } = topology(Retention.parse({ outbox: { maxBytes } }));
  const ledger = buckets.find(({ name }) => name === BUCKET.deliveries);
  expect((maxBytes / smallestReply()) * largestRecord()).toBeLessThan(ledger?.maxBytes ?? 0);
});

test("a small OUTBOX leaves the ledger the room it needs for what OUTBOX has dropped", () => {
  const { buckets } = topology(Retention.parse({ outbox: { maxBytes: MIB } }));
  expect(buckets.find(({ name }) => name === BUCKET.deliveries)?.maxBytes).toBe(256 * MIB);
});
