// Which tools the played model calls, and whether what comes back is what it asked for.

/** Longer than a tool result may be in the log: the whole of it becomes a blob. */
const LONG = 20_000;
const ENDING = "and that was all.";
const CUT = /read on with read_blob (\{.*?\})/;

const heard = (tag) => `heard ${tag}`;
const longText = (tag) => `${heard(tag)} ${"and so on, ".repeat(LONG / 11)}${ENDING}`;

/** @param results what the calls of this turn have brought so far */
export function callsFor(tools, tag, results) {
  const named = (name, args, place = "") => ({ id: `${name}${place}-${tag}`, name, args });
  const echo = named("echo", { text: heard(tag) });
  const now = named("now", {});
  const all = { none: [], now: [now], echo: [echo], both: [echo, now] };
  const calls = tools === "blob" ? nextOfBlob(tag, results) : results.length > 0 ? [] : all[tools];
  return calls.map(({ id, name, args }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
}

function nextOfBlob(tag, results) {
  const last = results.at(-1);
  if (last === undefined) return [{ id: `echo-${tag}`, name: "echo", args: { text: longText(tag) } }];
  const readOn = CUT.exec(last)?.[1];
  // One that was interrupted says nothing of a blob.
  if (readOn === undefined || results.length > 1) return [];
  return [{ id: `read_blob-${tag}`, name: "read_blob", args: JSON.parse(readOn) }];
}

/** A blob that was named must hold what was stored. */
export function blobFaults(messages, textOf) {
  const isRead = (id = "") => id.startsWith("read_blob-");
  return messages.flatMap((message, place) => {
    if (message.role !== "tool" || !isRead(message.tool_call_id)) return [];
    const text = textOf(message);
    const isWell = text.endsWith(ENDING) || /Cancelled|Not run|interrupted|too long|failed/i.test(text);
    return isWell ? [] : [`${place}: the blob was read as "${text.slice(0, 60)}…"`];
  });
}
