import { parseSessionId, replyIdOf, turnIdOf, digestOf } from "@troupe/contracts";
import { describe, expect, it } from "vitest";
import { Downtime } from "./downtime.mjs";
import { answerTo } from "./message-draw.mjs";
import { BAD, judge, Verdict } from "./verdict.mjs";

/** What a run knows of one session, as it is when nothing is wrong. */
const keyOf = (session: string): string => {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
};

function message(session: string, n: number) {
  const tag = `s0.${n}`;
  const id = `id-${tag}`;
  return {
    tag,
    id,
    answer: 12 + n,
    text: `[${tag}] what then?`,
    error: null as string | null,
    life: 0,
    mayBeCancelled: false,
    sentAt: 10 * n + 1,
    acceptedAt: 10 * n + 2,
    turn: turnIdOf(keyOf(session) as Parameters<typeof turnIdOf>[0], id),
  };
}

function record(session = "http:chaos-0") {
  const channel = session.split(":")[0] ?? "";
  const messages = [0, 1, 2].map((n) => message(session, n));
  const finals = messages.map((one, n) => ({
    turn: one.turn,
    kind: "answer",
    text: answerTo(one),
    introduction: null,
    index: 2 * n + 1,
    error: null as { code: string } | null,
    mergedInto: null as string | null,
  }));
  const log = messages.flatMap(({ turn, text }, n) => [
    { index: 2 * n, turn, role: "user", content: text },
    { index: 2 * n + 1, turn, role: "assistant", content: finals[n]?.text ?? "" },
  ]);
  return {
    session: { name: session, channel, life: 0, bornAt: 0, messages, resend: undefined as string | undefined },
    outbox: finals.map((final, n) => ({
      seq: n + 1,
      id: `k:${n}:0`,
      generation: 0,
      final,
      turn: final.turn,
      delivery: `${replyIdOf(final.turn)}_0`,
      shows: final.text,
    })),
    deliveries: new Map<string, object>(),
    screen: [],
    entry: {
      fields: {
        generation: 0,
        erased: false,
        turn: null,
        queued: [],
        steered: [],
        summary: null,
        recent: messages.map(({ turn }) => ({ turn })),
        log: { segments: [], tail: log.slice(-2) },
      },
    },
    laws: { faults: [] as string[], promised: new Set(finals.map((_, n) => `k:${n}:0`)) },
    history: { generation: 0, messages: log as Record<string, unknown>[] },
    lostBlobs: [] as string[],
    stored: {
      inbound: messages.map(({ id }) => digestOf(id)),
      segments: [] as string[],
      blobs: [] as string[],
      deliveries: messages.map(({ turn }) => `${replyIdOf(turn)}_0`),
    },
    follower: { faults: [] as string[], finals: finals.map((_, n) => ({ seq: n + 1 })) },
  };
}

type Seen = ReturnType<typeof record>;

function figuresOf(seen: Seen): string[] {
  const verdict = new Verdict();
  judge(verdict, seen);
  return [...new Set(verdict.findings.map(({ figure }: { figure: string }) => figure))];
}

const some = <T>(values: readonly T[], place: number): T => {
  const value = values[place];
  if (value === undefined) throw new Error(`there is no ${place}`);
  return value;
};
const finalOf = (seen: Seen, n: number) => some(seen.outbox, n).final;
const tell = (seen: Seen, n: number, what: object): void => void Object.assign(some(seen.session.messages, n), what);

/** The session was erased, and then its messages were said. */
function erased(seen: Seen): void {
  seen.session.life = 1;
  seen.session.bornAt = 1;
  for (const one of seen.session.messages) one.life = 1;
  for (const event of seen.outbox) event.generation = 1;
  seen.entry.fields.generation = 1;
}

const FAULTS: [name: string, figure: string, plant: (seen: Seen) => void][] = [
  ["a final is missing", "lost", ({ outbox }) => outbox.splice(1, 1)],
  ["a message that was accepted is taken for new", "lost", (seen) => tell(seen, 0, { firsts: 1, wasForgotten: true })],
  ["a final came under two ids", "doubled", ({ outbox }) => outbox.push({ ...some(outbox, 1), seq: 9, id: "k:9:0" })],
  ["a client was told another final", "doubled", (seen) => tell(seen, 1, { finals: new Set(["{}"]) })],
  ["a client was given two turns", "doubled", (seen) => tell(seen, 1, { turns: new Set(["t_1", "t_2"]) })],
  ["a message was taken for new twice", "doubled", (seen) => tell(seen, 1, { firsts: 2 })],
  [
    "a final is of nobody's turn",
    "doubled",
    (seen) =>
      seen.outbox.push({ ...some(seen.outbox, 0), seq: 9, id: "k:9:0", final: { ...finalOf(seen, 0), turn: "t_x" } }),
  ],
  ["finals changed places", "out of order", ({ outbox }) => void (some(outbox, 0).seq = 9)],
  ["an answer is another one's", "wrong answer", (seen) => void (finalOf(seen, 1).text = finalOf(seen, 0).text)],
  ["an answer is cut", "wrong answer", (seen) => void (finalOf(seen, 1).text = finalOf(seen, 1).text.slice(0, -1))],
  ["a stream showed something else", "wrong answer", (seen) => tell(seen, 1, { shown: "re" })],
  ["nobody cancelled it", "wrong answer", (seen) => void (finalOf(seen, 1).kind = "cancelled")],
  ["nobody steers here", "wrong answer", (seen) => void (finalOf(seen, 1).kind = "merged")],
  [
    "an error was not drawn",
    "wrong answer",
    (seen) => Object.assign(finalOf(seen, 1), { kind: "error", error: { code: "internal" } }),
  ],
  ["a drawn error did not come", "wrong answer", (seen) => tell(seen, 1, { error: "model_refused" })],
  [
    "a result answers no call",
    "invalid histories",
    ({ history }) => history.messages.push({ index: 6, role: "tool", tool_call_id: "x", content: "" }),
  ],
  ["an index is missing", "invalid histories", ({ history }) => void (some(history.messages, 3)["index"] = 7)],
  ["an answer is not in the history", "missing from history", ({ history }) => history.messages.pop()],
  [
    "a message stands there twice",
    "missing from history",
    ({ history }) => history.messages.push({ ...some(history.messages, 0), index: 6 }),
  ],
  ["a blob is lost", "missing from history", ({ lostBlobs }) => lostBlobs.push("abc")],
  ["a law of the state is broken", "stale writes accepted", ({ laws }) => laws.faults.push("epoch 1 after 2")],
  ["a promise was not kept", "effects missing", ({ laws }) => laws.promised.add("k:7:0")],
  ["an event did not come over the stream", "stream gaps", ({ follower }) => follower.finals.shift()],
  ["replies to a messenger were not sent", "not delivered", ({ session }) => void (session.resend = "unsafe")],
  ["an event came twice", "stream gaps", ({ follower }) => follower.faults.push("event 2 after 2")],
  [
    "a message was never accepted",
    "stuck",
    (seen) => {
      seen.outbox.splice(1, 1);
      tell(seen, 1, { acceptedAt: undefined });
    },
  ],
];

const REMAINS: [name: string, plant: (seen: Seen) => void][] = [
  ["a final", (seen) => seen.outbox.push({ ...some(seen.outbox, 0), seq: 9, generation: 0 })],
  [
    "the final of a message that the erasure overtook",
    (seen) => {
      const final = { ...finalOf(seen, 0), turn: "t_old" };
      seen.outbox.push({ ...some(seen.outbox, 0), seq: 9, id: "k:9:0", generation: 1, final });
    },
  ],
  ["the record of a message that came in", ({ stored }) => stored.inbound.push(digestOf("old"))],
  ["a sealed piece of the log", ({ stored }) => stored.segments.push("0.0-9.abc")],
  ["a blob", ({ stored }) => stored.blobs.push("0.abc-1.0")],
  ["a delivery", ({ stored }) => stored.deliveries.push("r_old_1")],
  ["a turn in the state's memory", ({ entry }) => entry.fields.recent.push({ turn: "t_old" })],
  ["a message in the history", ({ history }) => history.messages.unshift({ index: 0, turn: "t_old", role: "user" })],
];

describe("the judge of a chaos run", () => {
  it.each(["http:chaos-0", "cli:chaos-0", "webhook:chaos-0"])("finds nothing wrong with a good %s", (session) => {
    expect(figuresOf(record(session))).toEqual([]);
  });

  it.each(FAULTS)("sees that %s: %s", (_name, figure, plant) => {
    const seen = record();
    plant(seen);
    expect(BAD).toContain(figure);
    expect(figuresOf(seen)).toContain(figure);
  });

  it("takes a drawn error, a cancel that was asked for and a merge where channels steer", () => {
    const seen = record("cli:chaos-0");
    Object.assign(finalOf(seen, 0), { kind: "error", error: { code: "model_refused" } });
    tell(seen, 0, { error: "model_refused" });
    Object.assign(finalOf(seen, 1), { kind: "cancelled" });
    tell(seen, 1, { mayBeCancelled: true });
    expect(figuresOf(seen)).toEqual([]);
    const [host] = seen.session.messages;
    Object.assign(finalOf(seen, 2), { kind: "merged", mergedInto: host?.turn });
    expect(figuresOf(seen)).toEqual(["missing from history"]);
  });

  it("takes the honest end of a step that was taken over too often, and of no other", () => {
    const seen = record();
    Object.assign(finalOf(seen, 1), { kind: "error", error: { code: "internal", retryable: true } });
    const exhausted = new Set([finalOf(seen, 1).turn]);
    expect(figuresOf(seen)).toContain("wrong answer");
    expect(figuresOf({ ...seen, laws: { ...seen.laws, exhausted } } as Seen)).not.toContain("wrong answer");
  });

  it("finds nothing left of an erased session that began anew", () => {
    const seen = record();
    erased(seen);
    expect(figuresOf(seen)).toEqual([]);
  });

  it.each(REMAINS)("sees that of an erased session %s is left", (_name, plant) => {
    const seen = record();
    erased(seen);
    plant(seen);
    expect(figuresOf(seen)).toContain("remains after delete");
  });
});

describe("what excuses a wait", () => {
  it("is the server's absence, that of all orchestrators, and that of the gateway that was asked", () => {
    const downtime = new Downtime({ orchestrators: 2 });
    const down = (target: string, from: number, to: number) =>
      downtime.begin({ target, from, how: "pause", process: undefined, pid: undefined })(to);
    down("nats-0", 100, 200);
    down("orchestrator-0", 150, 400);
    down("orchestrator-1", 350, 900);
    down("gateway-0", 500, 600);
    down("gateway-1", 600, 700);
    const wait = { from: 0, to: 1_000 };
    expect(downtime.excusedMs(wait, [])).toBe(150);
    expect(downtime.excusedMs(wait, [{ gateway: 0, from: 0, to: 550 }])).toBe(200);
    expect(downtime.excusedMs({ from: 180, to: 190 }, [])).toBe(10);
  });

  it("is that a process was struck a moment ago", () => {
    const downtime = new Downtime({ orchestrators: 2 });
    const over = downtime.begin({ target: "channel-0", from: 1_000, how: "pause", process: undefined, pid: 11 });
    const at = [900, 1_000, 60_000].map((ms) => downtime.isStruck(11, ms));
    over(2_000);
    const later = [9_000, 60_000].map((ms) => downtime.isStruck(11, ms));
    expect([...at, ...later, downtime.isStruck(12, 1_500)]).toEqual([false, true, true, true, false, false]);
  });
});
