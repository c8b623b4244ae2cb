// What may be there of a session that was erased: nothing that was said before, wherever it might lie.
import { digestOf } from "@troupe/contracts";

/**
 * @param seen `{ session, outbox, entry, stored, history }`; `session.bornAt` is the generation that the last erasure
 *   left behind, `history` may be absent
 * @returns {string[]} what remains
 */
export function remainsIn({ session: { bornAt, life, messages }, outbox, entry, stored, history }) {
  const own = messages.filter((message) => message.life === life && message.sentAt !== undefined);
  const turns = new Set(own.map(({ turn }) => turn));
  const ids = new Set(own.map(({ id }) => digestOf(id)));
  const remains = [];
  const look = (what, all, isOld) => {
    for (const one of all) if (isOld(one)) remains.push(`${what} ${nameOf(one)}`);
  };
  const isOldTurn = ({ turn }) => !turns.has(turn);
  look("outbox", outbox, ({ generation, final }) => generation < bornAt || (final && !turns.has(final.turn)));
  look("inbound", stored.inbound, (id) => !ids.has(id));
  look("segments", stored.segments, (name) => Number(name.split(".")[0]) < bornAt);
  look("blobs", stored.blobs, (name) => Number(name.split(".")[0]) < bornAt);
  const replies = new Set(outbox.filter(({ generation }) => generation >= bornAt).map(({ delivery }) => delivery));
  look("deliveries", stored.deliveries, (reply) => !replies.has(reply));
  const { turn, queued, steered, recent, log, summary } = entry.fields;
  look("state: recent", recent, isOldTurn);
  look("state: waiting", [...queued, ...steered], isOldTurn);
  look("state: turn", turn === null ? [] : [{ turn: turn.id }], isOldTurn);
  look("state: log", log.tail, isOldTurn);
  if (own.length === 0 && (summary !== null || log.segments.length > 0 || !entry.fields.erased))
    remains.push("state: it is not empty");
  look("history", history?.messages ?? [], isOldTurn);
  return remains;
}

const nameOf = (one) => (typeof one === "string" ? one : (one.turn ?? one.final?.turn ?? one.id));
