/**
 * What the offline model answers. It has no understanding: it looks for a few plain words in the last
 * message and says so. The same request always gets the same script.
 */
import type { ChatMessage, ChatRequest } from "./chat-request.js";
import { story } from "./story.js";

export type Script =
  /** `spreadMs`: how long the words take altogether when streamed; 0 is at once. */
  | { readonly kind: "text"; readonly text: string; readonly spreadMs: number }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "failure"; readonly message: string };

const storyMs = 8_000;
const maxQuoted = 200;

const tries = [
  "You can see the system at work all the same. Say",
  "“what time is it” or “echo hello” to have a tool called,",
  "“tell me a story” to watch an answer arrive word by word,",
  "or “fail” to see what a failing model looks like.",
].join(" ");

const toRealModel = [
  "To talk to a real model, set OPENAI_API_KEY and start again;",
  "for another OpenAI-compatible server set OPENAI_BASE_URL as well, and name its model with TROUPE_MODEL.",
].join(" ");

/** Decides by the last message: a tool's result is reported, a user's words are looked through. */
export function chooseScript(request: ChatRequest): Script {
  const { messages } = request;
  if (messages.at(-1)?.role === "tool") return say(reportResults(messages));
  const asked = messages.findLast((message) => message.role === "user")?.text.trim() ?? "";
  const words = asked.toLowerCase().replace(/[.!?\s]+$/, "");

  if (words === "fail") {
    return { kind: "failure", message: "The offline model fails because it was asked to." };
  }
  const echoed = /^echo\s+([\s\S]+)$/i.exec(asked)?.[1];
  if (echoed !== undefined) return call(request, "echo", { text: echoed }) ?? say(`${echoed} (offline model)`);
  if (/\bwhat(?:'s|’s| is)? (?:the )?time\b/.test(words)) {
    return (
      call(request, "now", {}) ?? say(`I am the offline model and have no tool that tells the time. ${toRealModel}`)
    );
  }
  if (/\b(?:tell me a story|stream slowly)\b/.test(words)) {
    return { kind: "text", text: `A story from the offline model. ${story}`, spreadMs: storyMs };
  }
  return say(introduce(asked, messages));
}

function say(text: string): Script {
  return { kind: "text", text, spreadMs: 0 };
}

function call(request: ChatRequest, name: string, args: Readonly<Record<string, unknown>>): Script | undefined {
  if (!request.toolNames.has(name)) return undefined;
  // Ids must differ within a conversation, and its length grows with every call.
  return { kind: "call", id: `call_offline_${request.messages.length}`, name, arguments: args };
}

function introduce(asked: string, messages: readonly ChatMessage[]): string {
  const quoted = asked === "" ? "You said nothing." : `You said: “${shorten(asked)}”`;
  const isFirst = !messages.some((message) => message.role === "assistant");
  const who = isFirst
    ? "Hello! I am the offline model: no key for a real one is set, so my answers are written beforehand and not thought up."
    : "I am still the offline model, so I can only repeat it.";
  return isFirst
    ? `${who}\n\n${quoted}\n\n${tries}\n\n${toRealModel}`
    : `${quoted}\n\n${who} ${tries}\n\n${toRealModel}`;
}

/** The results since the last call, each under the name of its tool. */
function reportResults(messages: readonly ChatMessage[]): string {
  const from = messages.findLastIndex((message) => message.role !== "tool");
  const calls = messages[from]?.calls ?? [];
  const lines = messages.slice(from + 1).map((result) => {
    const name = calls.find((one) => one.id === result.callId)?.name;
    if (name === "now") return `It is ${result.text}.`;
    return name === undefined ? `A tool answered: ${result.text}` : `The tool ${name} answered: ${result.text}`;
  });
  return `${lines.join("\n")}\n\n(Offline model: a tool was really called, but these words are scripted.)`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  // A character is at most two units long; one more than is shown tells whether there is more.
  const characters = Array.from(line.slice(0, (maxQuoted + 1) * 2));
  return characters.length > maxQuoted ? `${characters.slice(0, maxQuoted).join("")}…` : line;
}
