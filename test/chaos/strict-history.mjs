// What a strict provider asks of a history, as a list of what is wrong with one.

/** @returns {string[]} empty when nothing is wrong */
export function faultsOfHistory(messages) {
  const faults = [];
  const ids = new Set();
  let open = [];
  for (const [place, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id)) faults.push(`${place}: a result of no call right before it`);
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) faults.push(`${place}: calls without a result before it: ${open.join(", ")}`);
    open = [];
    if (message.role !== "assistant") continue;
    for (const call of message.tool_calls ?? []) {
      if (!call.id || ids.has(call.id)) faults.push(`${place}: the call's id is not unique: "${call.id}"`);
      ids.add(call.id);
      if (!isObject(call.function.arguments)) faults.push(`${place}: arguments are no object`);
      open.push(call.id);
    }
    if (!message.content && open.length === 0) faults.push(`${place}: an empty message`);
  }
  if (open.length > 0) faults.push(`at the end: calls without a result: ${open.join(", ")}`);
  return faults;
}

function isObject(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
