// Which finals a message may get, by what the schedule drew for it.
import { answerTo } from "./message-draw.mjs";
import { CHANNEL_MODES } from "./schedule.mjs";

/** @returns {string | null} what is wrong with a final */
export function outcomeFault(message, final, { channel, messages, exhausted }) {
  const { kind, text, error } = final;
  // Whoever was taken into the turn is answered with it.
  const all = [message, ...messages.filter((other) => other.turn !== message.turn && mergedInto(other, message.turn))];
  switch (kind) {
    case "answer":
      return all.some((one) => one.error === null && text === answerTo(one))
        ? null
        : `answered "${text.slice(0, 120)}"`;
    case "error":
      if (error.code === "internal" && error.retryable && exhausted?.has(message.turn)) return null;
      return all.some((one) => one.error === error.code) ? null : `ended in an error that nobody drew: ${error.code}`;
    case "cancelled":
      return message.mayBeCancelled ? null : "was cancelled, and nobody had asked for that";
    case "merged":
      return mergeFault(final, { channel, messages });
    default:
      return `has a final of the kind ${kind}`;
  }
}

function mergeFault({ mergedInto: host }, { channel, messages }) {
  if (CHANNEL_MODES[channel] !== "steer") return "was merged in a channel that does not do that";
  return messages.some(({ turn }) => turn === host) ? null : `was merged into ${host}, which is nobody's turn`;
}

const mergedInto = ({ sent }, turn) => sent?.some(({ final }) => final.mergedInto === turn) === true;
