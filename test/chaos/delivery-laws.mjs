// What must be true of the replies of a channel: what OUTBOX holds for a conversation, what the ledger says of it and
// what the messenger has shown are held against each other.

/** How the records may end, by what a second send would do. */
const ENDS = { harmless: ["confirmed", "rejected"], unsafe: ["confirmed", "rejected", "unsettled"] };

/**
 * @param seen `{ session, outbox, deliveries, screen }`; `session.resend`: what a second send does; `outbox` with the
 *   ledger's id for each message, and the text that people are to see, null for none; `deliveries`: records by id
 * @returns {{ figure: string, turn: string | null, text: string }[]}
 */
export function deliveryFaults(seen) {
  const replies = seen.outbox.filter(({ shows }) => shows !== null);
  const { bornAt = 0 } = seen.session;
  // What was on its way when its conversation was erased.
  const screen = seen.screen.filter(({ id }) => id === undefined || generationOf(id) >= bornAt);
  return [
    ...replies.flatMap((reply) => faultsOfReply(reply, { ...seen, screen })),
    ...strangers(replies, screen),
    ...disorder(replies, screen),
    ...latePreviews(screen, (sent, preview) => !isExcused(sent, preview)).map((turn) => ({
      figure: "previews after the final",
      turn,
      text: "a preview was shown behind the reply",
    })),
  ];
}

/** The turns of previews that came after the final when one of two processes that shared the turn was struck. */
export function excusedPreviews(screen) {
  return latePreviews(screen, isExcused);
}

/** What a process that is killed or halted had handed to the outside before, nobody can call back. */
const isExcused = (sent, preview) => sent.from !== preview.from && (sent.isStruck || preview.isStruck);

/** Replies that were shown although their conversation had been erased: they were on their way. */
export function overtaken(screen, bornAt = 0) {
  return screen.filter(({ deed, id }) => deed === "shown" && generationOf(id) < bornAt).map(({ id }) => id);
}

/** How the records of a conversation ended, by status. */
export function countEnds(counts, deliveries) {
  for (const { status } of deliveries.values()) {
    const name = `replies ${status}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
}

function faultsOfReply({ delivery, turn, shows }, { session: { resend }, deliveries, screen }) {
  const faults = [];
  const bad = (figure, text) => faults.push({ figure, turn, text: `reply ${delivery}: ${text}` });
  const { status, reason } = deliveries.get(delivery) ?? {};
  const own = screen.filter(({ id }) => id === delivery);
  const shown = own.filter(({ deed }) => deed === "shown");
  // A turn's final has one id, whatever a channel would do with several.
  const ofTurn = screen.filter((one) => one.deed === "shown" && one.turn === turn && isFinal(one));
  const times = Math.max(shown.length, isFinal({ id: delivery }) ? ofTurn.length : 0);
  if (times > 1) bad("delivered twice", `was shown ${times} times`);
  if (shown.some(({ text }) => text !== shows)) bad("delivered wrongly", "another text was shown");
  if (status === undefined) bad("not delivered", "the ledger does not know it");
  else if (!ENDS[resend].includes(status)) bad("not delivered", `is ${status} for good: ${reason}`);
  else if (status === "confirmed" && shown.length === 0) bad("not delivered", "is confirmed, and was never shown");
  else if (status === "rejected" && shown.length > 0) bad("delivered wrongly", "is rejected, and was shown");
  else if (status === "rejected" && !own.some(({ deed }) => deed === "refused"))
    bad("not delivered", `is rejected, and nobody refused it: ${reason}`);
  return faults;
}

/** What was shown, and OUTBOX knows nothing of it. */
function strangers(replies, screen) {
  const known = new Set(replies.map(({ delivery }) => delivery));
  return screen
    .filter(({ deed, id }) => deed === "shown" && !known.has(id))
    .map(({ id, turn }) => ({ figure: "delivered wrongly", turn, text: `${id} was shown, and is no reply` }));
}

/** Replies are shown in the order of OUTBOX. */
function disorder(replies, screen) {
  const order = new Map(replies.map(({ delivery, seq }) => [delivery, seq]));
  const shown = screen.filter(({ deed, id }) => deed === "shown" && order.has(id));
  return shown.flatMap(({ id, turn }, place) => {
    const before = shown.slice(0, place).find((other) => order.get(other.id) > order.get(id));
    const text = `reply ${id} was shown after ${before?.id}`;
    return before === undefined ? [] : [{ figure: "out of order", turn, text }];
  });
}

function latePreviews(screen, isMeant) {
  return screen.flatMap((preview, place) => {
    const { deed, turn } = preview;
    if (deed !== "preview") return [];
    const sent = screen.slice(0, place).find((one) => one.deed === "shown" && one.turn === turn && isFinal(one));
    return sent !== undefined && isMeant(sent, preview) ? [turn] : [];
  });
}

const isFinal = ({ id }) => id?.startsWith("r_");
export const generationOf = (id) => Number(id.slice(id.lastIndexOf("_") + 1));
