// The model, played at the wire by a process of its own. It does what the last user message says, refuses like a strict
// provider what no strict provider would take, and reports that. Between requests it remembers nothing but how often it
// has failed at a message.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { answerTo } from "./message-draw.mjs";
import { blobFaults, callsFor } from "./played-tools.mjs";
import { faultsOfHistory } from "./strict-history.mjs";

const FORM =
  /^\[(?<session>s\d+)\.(?<n>\d+)\] era=(?<era>\d+) tools=(?<tools>\w+) slow=(?<slow>\d+) answer=(?<length>\d+) trouble=(?<trouble>\w+):(?<times>\d+)/;
const CHUNKS = 4;
const STALL_MS = 4_000;
const DONE = "data: [DONE]\n\n";

/** How often it has failed, by message. */
const failed = new Map();

const head = { id: "c", object: "chat.completion.chunk", created: 0, model: "played" };
const event = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const textOf = ({ content }) =>
  Array.isArray(content) ? content.map(({ text }) => text ?? "").join("") : (content ?? "");

const STATUSES = {
  rate: [429, "rate_limit_exceeded"],
  busy: [503, "overloaded"],
  broken: [500, "server_error"],
  down: [500, "server_error"],
  refused: [400, "content_policy"],
  long: [400, "context_length_exceeded"],
};

function refuse(response, status, code, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ error: { message: `played: ${code}`, type: "error", code } }));
}

/** Whether this call fails; then it has been answered. */
async function isTroubled({ tag, trouble, times }, response) {
  const count = failed.get(tag) ?? 0;
  if (count >= Number(times)) return false;
  failed.set(tag, count + 1);
  const [status, code] = STATUSES[trouble] ?? [];
  if (status !== undefined) {
    refuse(response, status, code, trouble === "rate" ? { "retry-after": "1" } : {});
    return true;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if (trouble === "stall") {
    response.write(event({ role: "assistant", content: "well" }));
    await delay(STALL_MS);
    response.destroy();
  } else if (trouble === "cut") {
    response.write(event({ role: "assistant", content: `cut short [${tag}]` }), () => response.destroy());
  } else response.end(`${event({ role: "assistant", content: " " })}${event({}, "stop")}${DONE}`);
  return true;
}

async function answer(messages, response) {
  const place = messages.findLastIndex(({ role }) => role === "user");
  const form = FORM.exec(textOf(messages[place] ?? {}))?.groups;
  if (form === undefined) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${event({ content: "In short: they talked." })}${event({}, "stop")}${DONE}`);
    return;
  }
  const tag = `${form.session}.${form.n}`;
  if (await isTroubled({ ...form, tag }, response)) return;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(event({ role: "assistant", content: "" }));
  const slowMs = Number(form.slow);
  await delay(slowMs);
  const results = messages.slice(place).filter(({ role }) => role === "tool");
  const calls = callsFor(form.tools, tag, results.map(textOf));
  if (calls.length > 0) {
    response.end(`${event({ tool_calls: calls })}${event({}, "tool_calls")}${DONE}`);
    return;
  }
  const text = answerTo({ tag, answer: Number(form.length) });
  const size = Math.ceil(text.length / CHUNKS);
  for (let from = 0; from < text.length; from += size) {
    response.write(event({ content: text.slice(from, from + size) }));
    await delay(slowMs / CHUNKS);
  }
  response.end(`${event({}, "stop")}${DONE}`);
}

/** What it was shown that it should not have been, by figure. */
function faultsOf(messages) {
  const invalid = [...faultsOfHistory(messages), ...blobFaults(messages, textOf)];
  const forms = messages.filter(({ role }) => role === "user").flatMap((one) => FORM.exec(textOf(one))?.groups ?? []);
  const sessions = new Set(forms.map(({ session }) => session));
  if (sessions.size > 1) invalid.push(`it holds messages of several sessions: ${[...sessions].join(", ")}`);
  const eras = new Set(forms.map(({ era }) => era));
  const stale =
    eras.size > 1 ? [`it was shown what was said before a reset or an erasure: eras ${[...eras].join(", ")}`] : [];
  return { session: forms[0]?.session, invalid, stale };
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
    const { session, invalid, stale } = faultsOf(messages);
    process.send?.({ asked: true });
    if (invalid.length + stale.length === 0) return void answer(messages, response);
    process.send?.({ session, invalid, stale });
    return refuse(response, 400, "invalid_request_error");
  });
});
server.listen(0, "127.0.0.1", () => process.send?.({ url: `http://127.0.0.1:${server.address().port}/v1` }));
process.on("disconnect", () => process.exit(0));
