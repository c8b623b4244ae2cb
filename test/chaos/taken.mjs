// What whoever takes a message in says of it.

/** @param told `{ turn, duplicate }`; `wasKnown`: it had been taken before it was told this time */
export function noteTaken(message, { turn, duplicate }, { journal, wasKnown }) {
  if (!duplicate) message.firsts = (message.firsts ?? 0) + 1;
  message.acceptedAt ??= journal.tick();
  message.turns = new Set([...(message.turns ?? []), turn]);
  if (wasKnown && !duplicate) message.wasForgotten = true;
}
