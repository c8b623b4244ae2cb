import { type LogMessage, type SessionFields, type SessionKey } from "@troupe/contracts";
import { messagesBetween, newestMessages } from "@troupe/history";
import fc from "fast-check";
import { expect, test } from "vitest";
import { seal } from "../src/seal.js";
import { SessionDriver } from "./session-driver.js";

const KEY = "http.a" as SessionKey;

/** A conversation that is sealed whenever it should be, as the kernel does before a commit. */
class LongConversation {
  fields: SessionFields = new SessionDriver().fields;
  readonly stored = new Map<string, string>();
  readonly all: LogMessage[] = [];

  append(...messages: LogMessage[]): void {
    this.all.push(...messages);
    const { log } = this.fields;
    this.fields = { ...this.fields, log: { ...log, tail: [...log.tail, ...messages] } };
    const sealed = seal(KEY, this.fields);
    if (sealed === undefined) return;
    for (const { name, text } of sealed.segments) this.stored.set(name, text);
    this.fields = sealed.fields;
  }

  get log() {
    return { ...this.fields.log, key: KEY, generation: this.fields.generation };
  }

  read = (name: string): Promise<string> => {
    const text = this.stored.get(name);
    return text === undefined ? Promise.reject(new Error(`no segment ${name}`)) : Promise.resolve(text);
  };
}

const said = (content: string): LogMessage => ({ role: "user", turn: "t_1", at: 0, content });
const called = (id: string): LogMessage[] => [
  {
    role: "assistant",
    turn: "t_1",
    at: 0,
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "now", arguments: "{}" } }],
  },
  { role: "tool", turn: "t_1", at: 0, tool_call_id: id, content: "r".repeat(300), isError: false, blob: null },
];

test("Z1–Z3, K12: any range of a sealed log reads as if nothing had been sealed", async () => {
  const step = fc.oneof(
    fc.integer({ min: 0, max: 3_000 }).map((length) => [said("x".repeat(length))]),
    fc.nat(1_000_000).map((id) => called(`c${id}`)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), fc.nat(200), fc.nat(200), async (steps, a, b) => {
      const conversation = new LongConversation();
      for (const messages of steps) conversation.append(...messages);
      const { log } = conversation;
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      expect(await messagesBetween(log, { from, to }, conversation.read)).toEqual(conversation.all.slice(from, to));
      expect(log.tail[0]?.role).not.toBe("tool");
      expect(log.from + log.tail.length).toBe(conversation.all.length);
      const newest = await newestMessages(log, (messages) => messages.length >= 40, conversation.read);
      expect(newest.messages).toEqual(conversation.all.slice(newest.from));
      expect(newest.messages.length >= 40 || newest.from === 0).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test("K12: the state of 100,000 messages is hardly larger than that of 300", () => {
  const conversation = new LongConversation();
  const sizes: number[] = [];
  for (let i = 1; i <= 100_000; i++) {
    conversation.append(said(`message number ${i}, of the usual length of a line in a chat`));
    if (i <= 300 || i > 99_700) sizes.push(JSON.stringify(conversation.fields).length);
  }
  const average = (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
  const early = average(sizes.slice(150, 300));
  const late = average(sizes.slice(300));
  console.log(`state: ${Math.round(early)} characters around 300 messages, ${Math.round(late)} around 100,000`);
  expect(late / early).toBeLessThan(1.5);
  expect(Math.max(...sizes)).toBeLessThan(32_000);
});

test("Z3, K12: at 1,000,000 messages the state names a few pieces more, and no seal stores many", {
  timeout: 120_000,
}, () => {
  let { fields } = new SessionDriver();
  const stored: number[] = [];
  const named: number[] = [];
  const batch = Array.from({ length: 200 }, () => said("yes"));
  for (let count = 0; count < 1_000_000; count += batch.length) {
    const { log } = fields;
    const sealed = seal(KEY, { ...fields, log: { ...log, tail: [...log.tail, ...batch] } });
    if (sealed === undefined) throw new Error("a full tail is sealed");
    fields = sealed.fields;
    stored.push(sealed.segments.length);
    named.push(fields.log.segments.length);
  }
  // 5,000 leaves make four levels: at most fifteen of each are named, and one of each is stored at once.
  expect(Math.max(...named)).toBeLessThanOrEqual(15 * 4);
  expect(Math.max(...stored)).toBeLessThanOrEqual(4);
  expect(stored.reduce((sum, n) => sum + n, 0) / stored.length).toBeLessThan(1.1);
  expect(JSON.stringify(fields.log.segments).length).toBeLessThan(16_000);
});

test("one message larger than the limit moves out once newer ones follow", () => {
  const conversation = new LongConversation();
  conversation.append(said("x".repeat(900_000)));
  expect(conversation.fields.log.segments).toHaveLength(0);
  conversation.append(said("next"));
  expect(JSON.stringify(conversation.fields).length).toBeLessThan(2_000);
});
