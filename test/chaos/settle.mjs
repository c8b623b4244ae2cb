// Waits, within bounds, until there is nothing left to do, and says what never came to rest.
import { setTimeout as delay } from "node:timers/promises";
import { Record } from "./record.mjs";

const LOOK_MS = 250;
const AT_ONCE = 32;

/** @returns {Promise<{ session, unrest }[]>} sessions that are still not at rest when the time is up */
export async function settle({ record, journal }, sessions, limitMs) {
  const endAt = performance.now() + limitMs;
  const said = new Map();
  for (let left = sessions; ; await delay(LOOK_MS)) {
    const looks = await inTurns(left, async (session) => ({ session, unrest: await unrestOf(record, session) }));
    const restless = looks.filter(({ unrest }) => unrest.length > 0);
    if (restless.length === 0 || performance.now() > endAt) return restless;
    for (const { session, unrest } of restless) {
      const text = `not at rest: ${unrest.join("; ")}`;
      if (said.get(session) !== text) journal.note(session.name, text);
      said.set(session, text);
    }
    left = restless.map(({ session }) => session);
  }
}

async function unrestOf(record, { name, life, messages, resend }) {
  const entry = await record.look(name);
  const accepted = messages.filter((message) => message.acceptedAt !== undefined && message.life === life);
  if (entry === null) return accepted.length === 0 ? [] : ["there is no entry"];
  const { lease, fields, outstanding } = entry;
  const unrest = [];
  // One whose owner died with nothing left to do runs out and is nobody's.
  if (lease !== null && lease.until > Date.now())
    unrest.push(`the lease of ${lease.owner} until ${new Date(lease.until).toISOString()}`);
  if (fields.turn !== null) unrest.push(`turn ${fields.turn.id} ${fields.turn.status}`);
  if (fields.queued.length + fields.steered.length > 0) unrest.push("messages wait in the state");
  const runs = outstanding.filter(({ kind }) => kind === "run");
  if (runs.length > 0) unrest.push(`runs are listed: ${runs.map(({ id }) => id).join(", ")}`);
  const answered = new Set((await record.finals(name)).map(({ final }) => final?.turn));
  const open = accepted.filter(({ id }) => !answered.has(Record.turnOf(name, id)));
  if (open.length > 0) unrest.push(`no final yet: ${open.map(({ tag }) => tag).join(", ")}`);
  // Nobody delivers what has not been said yet.
  if (unrest.length > 0 || resend === undefined) return unrest;
  const undelivered = await record.undelivered(name);
  return undelivered.length === 0 ? [] : [`not delivered yet: ${undelivered.join(", ")}`];
}

/** A few at a time: a long run has many hundred sessions. */
export async function inTurns(all, each) {
  const results = [];
  const rest = all.entries();
  const hand = async () => {
    for (const [n, one] of rest) results[n] = await each(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, hand));
  return results;
}
