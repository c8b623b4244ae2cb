import type { ScriptedReply, ScriptedRequest } from "@troupe/testkit";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { HistoryMessage } from "../system/api-shapes.js";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory } from "../system/valid-history.js";

/** Tool results that are too long to be shown whole, from the tool to the model that reads on. */
const LIMIT = 16_000;
const FAMILY = "👨‍👩‍👧‍👦";
const system = useTroupe();

/** 40,000 characters; wherever near the limit it is cut, the cut would tear a family apart. */
const whole = `${"start ".repeat(2_480)}${FAMILY.repeat(400)}é${"中文🇩🇪".repeat(1_000)}`.padEnd(40_000, "end ");

const ToolView = z.object({
  role: z.literal("tool"),
  content: z.string(),
  isError: z.boolean(),
  blob: z.string().nullable(),
});
const Reading = z.object({ blob: z.string(), offset: z.number() });

async function toolsOf(chat: Conversation) {
  const { body } = await chat.get("/messages?limit=1000");
  const { messages } = z.object({ messages: z.array(z.record(z.string(), z.unknown())) }).parse(body);
  return messages.filter(({ role }) => role === "tool").map((message) => ToolView.parse(message));
}

/** Where a result that is not whole says that it goes on. */
function readOn(content: string, blob: string): { text: string; next: z.infer<typeof Reading> | undefined } {
  const end = content.lastIndexOf("\n[");
  const note = end < 0 ? "" : content.slice(end);
  const named = /read_blob (\{.*\})/.exec(note)?.[1];
  if (named !== undefined) return { text: content.slice(0, end), next: Reading.parse(JSON.parse(named)) };
  const offset = /read on at offset (\d+)/.exec(note)?.[1];
  return offset === undefined
    ? { text: content, next: undefined }
    : { text: content.slice(0, end), next: { blob, offset: Number(offset) } };
}

/** A model that echoes a long text and reads on until it has all of it. */
function reader(pieces: string[]): ScriptedReply {
  let blob = "";
  return (request, respond) => {
    const last = request.body.messages?.at(-1);
    if (last?.role !== "tool") return respond.calls([{ name: "echo", arguments: { text: whole } }]);
    const { text, next } = readOn(String(last.content), blob);
    pieces.push(text);
    if (next === undefined) return respond.text("read it all");
    blob = next.blob;
    respond.calls([{ name: "read_blob", arguments: { ...next } }]);
  };
}

const graphemes = (text: string): string[] =>
  Array.from(new Intl.Segmenter("und", { granularity: "grapheme" }).segment(text), ({ segment }) => segment);

/** Has the model call the tool once; its result as the model is shown it. */
async function callOnce(chat: Conversation, name: string, input: Readonly<Record<string, unknown>>) {
  const isAfter = ({ lastUser, body }: ScriptedRequest): boolean =>
    lastUser === `call ${name} ${chat.id}` && body.messages?.at(-1)?.role === "tool";
  const take = system().model.when(`call ${name} ${chat.id}`, (request, respond) =>
    isAfter(request) ? respond.text("done") : respond.calls([{ name, arguments: input }]),
  );
  await chat.say(`call ${name} ${chat.id}`);
  take();
  return (await toolsOf(chat)).at(-1);
}

describe("a tool result over 16,000 characters", () => {
  const pieces: string[] = [];
  let blob = "";

  it("is cut between characters, and the model can read on to its end", async () => {
    const chat = new Conversation(system(), "long-result");
    const take = system().model.when("read everything", reader(pieces));
    expect((await chat.say("read everything")).final.text).toBe("read it all");
    take();
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join("") === whole, "the pieces make up the whole").toBe(true);
    const borders = new Set<number>();
    let at = 0;
    for (const one of graphemes(whole)) borders.add((at += one.length));
    at = 0;
    for (const piece of pieces) expect(borders, "cut between characters").toContain((at += piece.length));
  });

  it("is kept short in the history, which names where the whole of it is", async () => {
    const chat = new Conversation(system(), "long-result");
    const messages: HistoryMessage[] = await chat.messages();
    expectValidHistory(messages);
    const results = await toolsOf(chat);
    expect(results.length).toBe(pieces.length);
    for (const { content, isError } of results) {
      expect(content.length).toBeLessThanOrEqual(LIMIT);
      expect(content.isWellFormed()).toBe(true);
      expect(isError).toBe(false);
    }
    blob = results[0]?.blob ?? "";
    expect(blob).not.toBe("");
    expect(results.slice(1).map((result) => result.blob)).toEqual(results.slice(1).map(() => null));
  });

  it("of exactly 16,000 characters is left whole, and one more is not", async () => {
    const chat = new Conversation(system(), "border");
    const fits = await callOnce(chat, "echo", { text: "x".repeat(LIMIT) });
    expect(fits).toMatchObject({ content: "x".repeat(LIMIT), blob: null });
    const other = new Conversation(system(), "over-border");
    const over = await callOnce(other, "echo", { text: "x".repeat(LIMIT + 1) });
    expect(over?.content.length).toBeLessThanOrEqual(LIMIT);
    expect(over?.blob).not.toBeNull();
  });

  it("cannot be read from another conversation", async () => {
    for (const id of ["stranger", "cli:long-result", "long-result/", "Long-result"]) {
      const stolen = await callOnce(new Conversation(system(), id), "read_blob", { blob, offset: 0 });
      expect(stolen, id).toMatchObject({ isError: true });
      expect(stolen?.content).not.toContain("start");
    }
    const walked = new Conversation(system(), "walker");
    for (const name of [`../http.long-result/${blob}`, `/http.long-result/0/${blob}`, "", "*", ">"]) {
      await walked.control("reset").catch(() => undefined);
      expect(await callOnce(walked, "read_blob", { blob: name, offset: 0 }), name).toMatchObject({ isError: true });
    }
  });

  it("read from beyond its end is empty, from a wrong place an error, and neither ends the turn", async () => {
    const chat = new Conversation(system(), "long-result");
    expect(await callOnce(chat, "read_blob", { blob, offset: 999_999 })).toMatchObject({ content: "", isError: false });
    for (const offset of [-1, 0.5, "0", 1e300]) {
      const again = new Conversation(system(), "long-result");
      expect(await callOnce(again, "read_blob", { blob, offset }), String(offset)).toBeDefined();
    }
  });

  it("can be read again after the orchestrator has been replaced", async () => {
    const [orchestrator] = system().orchestrators;
    await orchestrator?.stop();
    await orchestrator?.start();
    const again = await callOnce(new Conversation(system(), "long-result"), "read_blob", { blob });
    expect(again).toMatchObject({ isError: false });
    expect(again?.content.startsWith("start ")).toBe(true);
  });

  it.each(["reset", "erase"] as const)("is out of reach after a %s", async (how) => {
    const chat = new Conversation(system(), `gone-${how}`);
    const before = await callOnce(chat, "echo", { text: whole });
    expect(before?.blob).not.toBeNull();
    await (how === "reset" ? chat.control("reset") : chat.erase());
    const after = await callOnce(chat, "read_blob", { blob: before?.blob ?? "" });
    expect(after).toMatchObject({ isError: true });
    expect((await chat.messages()).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    const again = await callOnce(chat, "echo", { text: whole });
    expect(again?.blob).not.toBeNull();
    expect(await callOnce(chat, "read_blob", { blob: again?.blob ?? "", offset: 39_996 })).toMatchObject({
      isError: false,
    });
  });
});
