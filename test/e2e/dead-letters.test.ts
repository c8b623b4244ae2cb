import { execFile } from "node:child_process";
import { join } from "node:path";
import {
  DeadLetter,
  deadSubject,
  digestOf,
  encode,
  mailSubject,
  parseSessionId,
  type SessionKey,
  turnIdOf,
  UserMessage,
} from "@troupe/contracts";
import { projectRoot } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { BareNats } from "./hostile-nats.js";

/** What an operator does about what was given up on, by the command. */
const system = useTroupe();
let nats: BareNats;
let outbox: OutboxRecord;

beforeAll(async () => {
  nats = await BareNats.open(system().nats);
  outbox = await OutboxRecord.open(system());
});
afterAll(async () => {
  nats?.close();
  await outbox?.close();
});

function dead(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = [join(projectRoot, "deploy", "local", "troupe.mjs"), "dead", ...args];
  const at = ["--url", system().url, "--token", system().token];
  const env = { PATH: process.env.PATH, TROUPE_DATA: system().dataFolder };
  return new Promise((resolve) => {
    execFile(process.execPath, [...command, ...at], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const Listed = z.object({ dead: z.array(z.object({ id: z.string(), reason: z.string(), retryable: z.boolean() })) });

async function listed(session: string) {
  const { stdout } = await dead("list", "--json", "--session", session);
  return Listed.parse(JSON.parse(stdout)).dead;
}

function keyOf(session: string): SessionKey {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}

const Stored = z.object({ seq: z.number() });

/** Mail of a person, and the letter that a session leaves when it has given up on that. */
function givenUp(session: string, messageId: string, text: string) {
  const key = keyOf(session);
  const turn = turnIdOf(key, messageId);
  const head = { v: 1, id: `${key}:${turn}`, kind: "user", turn, messageId, principal: "owner" } as const;
  const mail = encode(UserMessage, { ...head, text, digest: digestOf(text) });
  const subject = mailSubject("session", key, "in");
  const letter = { v: 1, id: `${key}:7:0`, kind: "mail", subject, seq: 1, reason: "it failed", body: mail } as const;
  return { mail, turn, subject, letter: encode(DeadLetter, letter) };
}

async function bury(session: string, letter: string): Promise<string> {
  return String(Stored.parse(JSON.parse(await nats.ask(deadSubject("mail", keyOf(session)), letter))).seq);
}

describe("an operator", () => {
  it("is told of mail that cannot be read, sees why a retry is no use, and drops it", async () => {
    await nats.ask(mailSubject("session", keyOf("unread"), "in"), '{"oops":');
    await system().orchestrators[0]?.output.waitFor(/gave up on mail.*troupe dead list/);
    const [letter] = await vi.waitFor(
      async () => {
        const letters = await listed("unread");
        expect(letters).toHaveLength(1);
        return letters;
      },
      { timeout: 20_000 },
    );
    const id = letter?.id ?? "";
    const table = await dead("list");
    expect(table.stdout).toMatch(new RegExp(`^${id} +mail +http:unread .* no +the body is not JSON$`, "m"));
    const shown = await dead("show", id);
    expect(shown.stdout).toMatch(/refused: the mail cannot be read and would come back[^]*\nbody\n\{"oops":\n$/);
    const retried = await dead("retry", id);
    expect(retried).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("would come back") });
    expect(await dead("drop", id)).toEqual({ code: 0, stdout: `${id}: dropped\n`, stderr: "" });
    expect(await listed("unread")).toEqual([]);
    expect(await dead("show", id)).toMatchObject({ code: 1, stderr: `there is no dead letter ${id}\n` });
  });

  it("retries what a person said, and the person gets an answer, though the turn has had its final", async () => {
    const chat = new Conversation(system(), "retried");
    const { turn } = await chat.say("hello", { id: "m1" });
    const { mail, subject, letter, turn: old } = givenUp("retried", "m1", "hello");
    expect(old).toBe(turn);
    // The very same mail would do nothing: the session knows its turn.
    await nats.ask(subject, mail);
    await chat.say("in between");
    expect(await chat.view()).toMatchObject({ messageCount: 4 });

    const id = await bury("retried", letter);
    const { code, stdout } = await dead("retry", id);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`${id}: sent again`) });
    const again = /turn (t_[0-9a-f]+)/.exec(stdout)?.[1];
    await chat.until("the retry is answered", ({ messageCount }) => messageCount === 6);
    const messages = await chat.messages();
    expect(messages.slice(4)).toMatchObject([
      { role: "user", content: "hello", turn: again },
      { role: "assistant", content: "echo: hello", turn: again },
    ]);
    const finals = await outbox.finals("retried");
    expect(finals.filter((final) => final.turn === again)).toHaveLength(1);
    expect(finals.filter((final) => final.turn === old)).toHaveLength(1);
    expect(await listed("retried")).toEqual([]);
  });

  it("who retries several times over gets one answer, also by a letter that is still there", async () => {
    const chat = new Conversation(system(), "twice");
    const { letter } = givenUp("twice", "m1", "once only");
    const id = await bury("twice", letter);
    const path = `/v1/dead/${id}/retry`;
    const answers = await Promise.all([1, 2, 3].map(() => system().api(path, { method: "POST" })));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    // As if the gateway had died before it removed the letter.
    const left = await bury("twice", letter);
    await dead("retry", left);
    await chat.say("and now?");
    expect((await chat.messages()).map(({ content }) => content)).toEqual([
      "once only",
      "echo: once only",
      "and now?",
      "echo: and now?",
    ]);
  });

  it("finds nothing more of a session that was erased", async () => {
    const chat = new Conversation(system(), "erased");
    await chat.say("a secret");
    await bury("erased", givenUp("erased", "m1", "a secret").letter);
    expect(await listed("erased")).toHaveLength(1);
    expect((await chat.erase()).status).toBe(204);
    expect(await listed("erased")).toEqual([]);
  });
});
