import type { SessionKey } from "@troupe/contracts";
import { StreamFull, TooLarge, Unavailable } from "@troupe/jetstream";
import { describe, expect, it } from "vitest";
import { channelIntake, type HeardMessage, IntakeRefusal } from "../src/index.js";

const message: HeardMessage = { conversation: "c1", messageId: "m1", text: "hi", principal: "somebody" };

function scene(trouble?: Error) {
  const expected: SessionKey[] = [];
  const sent: string[] = [];
  const store = async <T>(what: string, result: T): Promise<T> => {
    if (trouble !== undefined) throw trouble;
    sent.push(what);
    return result;
  };
  const intake = channelIntake({
    channel: "webhook",
    inbox: { accept: ({ text }) => store(text, { turn: "t_1", duplicate: false, final: null }) },
    mail: { send: ({ subject }) => store(subject, { seq: 1, duplicate: false }) },
    onExpected: (key) => {
      expected.push(key);
      return () => expected.splice(expected.indexOf(key), 1);
    },
  });
  return { intake, expected, sent };
}

/** As an author hands it in whom no compiler holds. */
const any = (value: unknown): HeardMessage => value as HeardMessage;
const refusal = (code: IntakeRefusal["code"], says: unknown) => ({ name: "IntakeRefusal", code, message: says });

describe("a message that can be none", () => {
  it.each([
    [undefined, "a message must be an object"],
    ["hi", "a message must be an object"],
    [{ ...message, conversation: undefined }, "conversation must be a text"],
    [{ ...message, conversation: 42 }, "conversation must be a text"],
    [{ ...message, conversation: "" }, expect.stringContaining("empty")],
    [{ ...message, messageId: undefined }, "messageId must be a text"],
    [{ ...message, messageId: 42 }, "messageId must be a text"],
    [{ ...message, messageId: "" }, "a message id has 1 to 512 characters"],
    [{ ...message, messageId: "m".repeat(513) }, "a message id has 1 to 512 characters"],
    [{ ...message, text: null }, "text must be a text"],
    [{ ...message, text: "" }, "the message is empty"],
    [{ ...message, text: "\ud800" }, "the message holds half of a surrogate pair"],
    [{ ...message, principal: undefined }, "principal must be a text"],
    [{ ...message, principal: "" }, expect.stringContaining("principal must not be empty")],
  ])("is refused for good, with a sentence: %j", async (heard, says) => {
    const { intake, expected, sent } = scene();
    await expect(intake.accept(any(heard))).rejects.toMatchObject(refusal("invalid", says));
    expect([expected, sent]).toEqual([[], []]);
  });

  it.each([
    [undefined, "cancel", "me", "conversation must be a text"],
    ["c1", "stop", "me", "kind must be cancel or reset"],
    ["c1", "reset", undefined, "principal must be a text"],
  ])("nor can this control anything: %j %j %j", async (conversation, kind, principal, says) => {
    const { intake, sent } = scene();
    const control = intake.control as (...said: readonly unknown[]) => Promise<void>;
    await expect(control(conversation, kind, principal)).rejects.toMatchObject(refusal("invalid", says));
    expect(sent).toEqual([]);
  });
});

describe("a message that cannot be stored", () => {
  it.each([new StreamFull("MAIL"), new Unavailable("503 no responders on mail.x"), new Error("CONNECTION_CLOSED")])(
    "now may be repeated, and nothing of the inside is told: %s",
    async (cause) => {
      const { intake, expected } = scene(cause);
      const says = expect.stringMatching(/^(there is no room for|the message system cannot) .* under the same id$/);
      const passing = { name: "IntakePause", message: says, cause };
      await expect(intake.accept(message)).rejects.toMatchObject(passing);
      await expect(intake.control("c1", "cancel", "me")).rejects.toMatchObject({ name: "IntakePause", cause });
      expect(expected).toEqual([]);
    },
  );

  it("ever is refused for good", async () => {
    const { intake } = scene(new TooLarge(1_000));
    await expect(intake.accept(message)).rejects.toMatchObject(refusal("invalid", "the message is over 1000 bytes"));
  });

  it("under this id is refused as the inbox says", async () => {
    const conflict = new IntakeRefusal("id_conflict", "another one");
    await expect(scene(conflict).intake.accept(message)).rejects.toBe(conflict);
  });
});

it("what is taken in and what is controlled are the channel's own sessions", async () => {
  const { intake, expected, sent } = scene();
  expect(await intake.accept(message)).toEqual({ turn: "t_1", duplicate: false });
  await intake.control("c1", "reset", "me");
  expect(expected).toEqual(["webhook.c1"]);
  expect(sent).toEqual(["hi", "mail.session.webhook.c1.in"]);
});
