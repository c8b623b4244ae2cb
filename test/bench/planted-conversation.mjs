// A conversation of any length in a store, made by the product's own sealing and written through its own ports: what
// so many turns would have left, without taking them.
import { digestOf, parseSessionId, turnIdOf } from "@troupe/contracts";
import { mailPort, segmentStore, statePort } from "@troupe/jetstream";
import { sessionActor } from "@troupe/session";
import { Toolbox } from "@troupe/tools";

const START_AT = Date.UTC(2026, 0, 1);
/** How far back a summary leaves the conversation to be shown as it was, in messages. */
const SHOWN = 300;
const RECENT = 64;
/** Segments on their way to the store at once. */
const MOST_UNDER_WAY = 64;

const RULES = {
  limits: { maxSteps: 40, deadlineMs: 600_000, maxTokens: 1_000_000, noticeMs: 0 },
  toolbox: new Toolbox([]),
  secondMessage: "queue",
  introduction: null,
  windowTokens: 60_000,
};

const FILLER = "of the length that a line in a chat has now and then, when there is something to say ";
const textOf = (n) => `${n % 2 === 0 ? "question" : "answer"} ${n}, ${FILLER.repeat(1 + (n % 5))}`.trim();

export function plantedMessage(key, n) {
  const role = n % 2 === 0 ? "user" : "assistant";
  return { role, turn: turnIdOf(key, `m${n - (n % 2)}`), at: START_AT + n, content: textOf(n) };
}

/** Resolves to what the state says of it. */
export async function plantConversation(bus, session, count) {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  const { key } = parsed;
  const actor = sessionActor(key, RULES);
  const segments = segmentStore(bus);
  let fields = actor.initial(START_AT);
  let underWay = [];
  for (let n = 0; n < count; n += 2) {
    const tail = [...fields.log.tail, plantedMessage(key, n), plantedMessage(key, n + 1)];
    fields = { ...fields, log: { ...fields.log, tail } };
    const sealing = actor.seal(fields);
    if (sealing === undefined) continue;
    fields = sealing.fields;
    underWay.push(...sealing.segments.map(({ name, text }) => segments.create(name, text)));
    if (underWay.length < MOST_UNDER_WAY) continue;
    await Promise.all(underWay);
    underWay = [];
  }
  await Promise.all(underWay);
  fields = {
    ...fields,
    messageCount: count,
    introduced: true,
    summary: count > SHOWN ? { text: "They have spoken of many things. ".repeat(60), upTo: count - SHOWN } : null,
    recent: Array.from({ length: RECENT }, (_, n) => recentTurn(key, count - 2 * (RECENT - n))),
  };
  const entry = {
    schema: actor.schema,
    cursors: { user: 0, control: 0, ops: 0, cut: 0 },
    lease: null,
    epoch: count / 2,
    outstanding: [],
    timers: [],
    attempts: [],
    mailStream: await mailPort(bus, "session").identity(),
    fields,
  };
  const written = await statePort(bus).write(key, JSON.stringify(entry), 0);
  if (written.kind !== "stored") throw new Error(`the state of ${session} was ${written.kind}`);
  return { key, segments: fields.log.segments.length, bytes: JSON.stringify(entry).length };
}

function recentTurn(key, n) {
  const common = { introduction: null, error: null, mergedInto: null, text: null, generation: 0 };
  const final = { ...common, kind: "answer", index: n + 1, at: START_AT + n };
  const messageId = `m${n}`;
  return { messageId, digest: digestOf(textOf(n)), turn: turnIdOf(key, messageId), final };
}
