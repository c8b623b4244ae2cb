import { type LogMessage, OutboxMessage, type QueuedMessage, type SessionFields } from "@troupe/contracts";
import { type ReadRest, wholeMessages, wholeText } from "@troupe/history";
import type { ListedPublish } from "@troupe/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { offload } from "../src/offload.js";
import { KEY, SessionDriver } from "./session-driver.js";

const EMPTY = new SessionDriver().fields;
const GENERATION = 3;

const said = (content: string): LogMessage => ({ role: "user", turn: "t_1", at: 0, content });
const waiting = (text: string, instructions: string): QueuedMessage => ({
  turn: "t_2",
  messageId: "m",
  digest: "0".repeat(64),
  text,
  instructions,
  introduce: true,
  at: 0,
});

function reply(text: string, generation = GENERATION): ListedPublish {
  const final = { turn: "t_1", kind: "answer", text, introduction: null, index: 1 } as const;
  const whole = { ...final, at: "2026-01-01T00:00:00.000Z", error: null, mergedInto: null };
  const body = { v: 1, id: "e", kind: "final", session: "http:a", generation, final: whole } as const;
  return { kind: "publish", id: "e", bell: 1, subject: "outbox.http.a", body };
}

interface Texts {
  readonly log: readonly string[];
  readonly queued: readonly (readonly [text: string, instructions: string])[];
  readonly reply: string;
}

const fieldsOf = ({ log, queued }: Texts): SessionFields => ({
  ...EMPTY,
  generation: GENERATION,
  log: { ...EMPTY.log, tail: log.map(said) },
  queued: queued.map(([text, instructions]) => waiting(text, instructions)),
});

const weightOf = (texts: Texts) => ({ fields: fieldsOf(texts), outstanding: [reply(texts.reply)] });

/** What a reader does who has nothing but the names. */
function readerOf(pieces: readonly { readonly name: string; readonly text: string }[]): ReadRest {
  const stored = new Map(pieces.map(({ name, text }) => [name, text]));
  return async ({ blob }) => {
    const count = Number(blob.split("-")[1]);
    return Array.from({ length: count }, (_, n) => stored.get(`${KEY}.${GENERATION}.${blob}.${n}`)).join("");
  };
}

async function wholeOf(light: NonNullable<ReturnType<typeof offload>>): Promise<Texts> {
  const read = readerOf(light.blobs);
  const [effect] = light.outstanding;
  const message = OutboxMessage.parse(effect?.kind === "publish" ? effect.body : undefined);
  if (message.kind !== "final") throw new Error("no final");
  return {
    log: (await wholeMessages(light.fields.log.tail, read)).map(({ content }) => content ?? ""),
    queued: await Promise.all(
      light.fields.queued.map(async ({ text, rest, instructions = "", instructionsRest }) => {
        return [await wholeText(text, rest, read), await wholeText(instructions, instructionsRest, read)] as const;
      }),
    ),
    reply: await wholeText(message.final.text, message.rest, read),
  };
}

const text = fc
  .tuple(fc.integer({ min: 1, max: 250_000 }), fc.constantFrom("x", "文", "😀", "\u0001", '"', "a b\n"))
  .map(([length, unit]) => unit.repeat(Math.ceil(length / unit.length)));

test("O1, K12: what is heavy becomes light, whatever it is made of, and reads as it was said", async () => {
  const texts = fc.record({
    log: fc.array(text, { maxLength: 6 }),
    queued: fc.array(fc.tuple(text, text), { maxLength: 3 }),
    reply: text,
  });
  await fc.assert(
    fc.asyncProperty(texts, async (given) => {
      const light = offload(KEY, weightOf(given));
      if (light === undefined) {
        expect(Buffer.byteLength(JSON.stringify(weightOf(given)))).toBeLessThan(160 * 1024);
        return;
      }
      const { fields, outstanding, blobs } = light;
      expect(Buffer.byteLength(JSON.stringify({ fields, outstanding }))).toBeLessThan(80 * 1024);
      for (const piece of blobs) expect(Buffer.byteLength(piece.text)).toBeLessThanOrEqual(300_000);
      expect(await wholeOf(light)).toEqual(given);
      expect(offload(KEY, weightOf(given)), "tried again after a refused commit").toEqual(light);
      expect(offload(KEY, light), "nothing is left to be done").toBeUndefined();
    }),
    { numRuns: 15 },
  );
});

test("O2: an answer that the log and the reply hold is one blob", () => {
  const long = "an answer, ".repeat(20_000);
  const light = offload(KEY, weightOf({ log: [long], queued: [], reply: long }));
  expect(new Set(light?.blobs.map(({ name }) => name)).size).toBe(light?.blobs.length);
  expect(light?.blobs.reduce((sum, piece) => sum + piece.text.length, 0)).toBeLessThan(long.length);
});

test("O3: what has room is left as it is", () => {
  expect(offload(KEY, weightOf({ log: ["x".repeat(60_000)], queued: [], reply: "x".repeat(60_000) }))).toBeUndefined();
});

test("a reply of before a reset in the same commit is of the generation that its reader is told", () => {
  const long = "x".repeat(200_000);
  const weight = { fields: fieldsOf({ log: [long], queued: [], reply: "" }), outstanding: [reply(long, 2)] };
  const names = offload(KEY, weight)?.blobs.map(({ name }) => name.split(".").slice(0, 3).join("."));
  expect(new Set(names)).toEqual(new Set([`${KEY}.2`, `${KEY}.3`]));
});
