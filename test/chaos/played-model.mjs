// The model, played at the wire by a process of its own. It does what the last user message says, keeps nothing between
// requests, refuses like a strict provider what no strict provider would take, and reports what it refused.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { faultsOfHistory } from "./strict-history.mjs";

const FORM = /^\[(s\d+)\.(\d+)\] tools=(\w+) slow=(\d+) answer=(\d+)/;
const CHUNKS = 4;

const head = { id: "c", object: "chat.completion.chunk", created: 0, model: "played" };
const event = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const textOf = ({ content }) =>
  Array.isArray(content) ? content.map(({ text }) => text ?? "").join("") : (content ?? "");

function callsOf(tools, tag) {
  const all = { now: ["now", {}], echo: ["echo", { text: `heard ${tag}` }] };
  const names = { none: [], now: ["now"], echo: ["echo"], both: ["echo", "now"] }[tools] ?? [];
  return names.map((name, index) => ({
    index,
    id: `${name}-${tag}`,
    type: "function",
    function: { name: all[name][0], arguments: JSON.stringify(all[name][1]) },
  }));
}

async function answer(messages, response) {
  const user = messages.findLast(({ role }) => role === "user");
  const [, session, n, tools, slow, length] = FORM.exec(textOf(user ?? {})) ?? [];
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(event({ role: "assistant", content: "" }));
  if (session === undefined) {
    response.end(`${event({ content: "In short: they talked." })}${event({}, "stop")}data: [DONE]\n\n`);
    return;
  }
  const tag = `${session}.${n}`;
  await delay(Number(slow));
  const hasResults = messages.slice(messages.indexOf(user)).some(({ role }) => role === "tool");
  const calls = hasResults ? [] : callsOf(tools, tag);
  if (calls.length > 0) {
    response.end(`${event({ tool_calls: calls })}${event({}, "tool_calls")}data: [DONE]\n\n`);
    return;
  }
  const text = `re [${tag}]: ${"so it is. ".repeat(Math.ceil(length / 10)).slice(0, length)}.`;
  const size = Math.ceil(text.length / CHUNKS);
  for (let from = 0; from < text.length; from += size) {
    response.write(event({ content: text.slice(from, from + size) }));
    await delay(Number(slow) / CHUNKS);
  }
  response.end(`${event({}, "stop")}data: [DONE]\n\n`);
}

function faultsOf(messages) {
  const faults = faultsOfHistory(messages);
  const sessions = new Set(messages.flatMap((message) => FORM.exec(textOf(message))?.[1] ?? []));
  if (sessions.size > 1) faults.push(`it holds messages of several sessions: ${[...sessions].join(", ")}`);
  return faults;
}

const server = createServer((request, response) => {
  let body = "";
  response.on("error", () => undefined);
  request.setEncoding("utf8").on("data", (part) => {
    body += part;
  });
  request.on("end", () => {
    if (!request.url?.endsWith("/chat/completions")) return response.end(JSON.stringify({ object: "list", data: [] }));
    const { messages } = JSON.parse(body);
    const faults = faultsOf(messages);
    process.send?.({ asked: true });
    if (faults.length === 0) return void answer(messages, response);
    process.send?.({ faults, messages });
    response.writeHead(400, { "content-type": "application/json" });
    return response.end(JSON.stringify({ error: { message: faults[0], type: "invalid_request_error", code: null } }));
  });
});
server.listen(0, "127.0.0.1", () => process.send?.({ url: `http://127.0.0.1:${server.address().port}/v1` }));
process.on("disconnect", () => process.exit(0));
