import { encode, type SessionKey, turnIdOf, UserMessage } from "@troupe/contracts";
import { answered, sessionEntry } from "@troupe/testkit";
import { expect, test } from "vitest";
import { contentDigest, IntakeRefusal, MessageInbox } from "../src/index.js";

const session = { key: "http.demo" as SessionKey };

/** A gateway whose ledger knows nothing: only the state remembers. */
function inboxBeside(messageId: string, digest: string): MessageInbox {
  const turn = turnIdOf(session.key, messageId);
  const text = JSON.stringify(sessionEntry({ recent: [{ ...answered(turn), messageId, digest }] }));
  const read = async () => ({ revision: 7, text });
  const unexpected = (): never => {
    throw new Error("nothing more was to be asked");
  };
  return new MessageInbox({
    admission: { check: () => undefined },
    ledger: { get: async () => null, record: async () => undefined },
    sessions: { read, readFresh: read, watch: unexpected, keys: unexpected },
    mail: { send: async () => ({ seq: 1, duplicate: false }), bodyAt: unexpected },
    outbox: { replay: async () => [], whole: async (event) => event },
    segments: { read: unexpected },
    blobs: { get: unexpected },
    log: unexpected as never,
  });
}

const message = (messageId: string) => ({
  session,
  origin: "in" as const,
  messageId,
  repeatable: true,
  text: "hi",
  introduce: true,
  principal: "owner",
  traceparent: "",
});

test.each(["plain", 'with "quotes" and \\', "tab\tand line\nend", "猫 🐈 é", "\u2028</script>"])(
  "I2: a message that only the state remembers is a repeated one, whatever its id looks like: %j",
  async (id) => {
    const inbox = inboxBeside(id, contentDigest({ text: "hi" }));
    expect(await inbox.accept(message(id))).toMatchObject({ duplicate: true });
    expect(await inbox.accept(message(`${id}!`))).toMatchObject({ duplicate: false });
  },
);

/** MAIL has the id already, at place 7, and nobody has acked it yet. */
function inboxBesideMail(
  text: string,
  handledTo: number,
  cursor: "user" | "ops" = "user",
): { inbox: MessageInbox; ids: string[] } {
  const ids: string[] = [];
  const body = encode(UserMessage, {
    v: 1,
    id: "x",
    kind: "user",
    turn: turnIdOf(session.key, "m"),
    messageId: "m",
    digest: contentDigest({ text }),
    text,
    principal: "owner",
  });
  const entry = sessionEntry();
  const state = JSON.stringify({ ...entry, cursors: { ...entry.cursors, [cursor]: handledTo } });
  const read = async () => ({ revision: 9, text: state });
  const unexpected = (): never => {
    throw new Error("nothing more was to be asked");
  };
  const inbox = new MessageInbox({
    admission: { check: () => undefined },
    ledger: { get: async () => null, record: async () => undefined },
    sessions: { read, readFresh: read, watch: unexpected, keys: unexpected },
    mail: {
      send: async ({ id }) => {
        ids.push(id);
        return ids.length === 1 ? { seq: 7, duplicate: true } : { seq: 8, duplicate: false };
      },
      bodyAt: async () => body,
    },
    outbox: { replay: async () => [], whole: async (event) => event },
    segments: { read: unexpected },
    blobs: { get: unexpected },
    log: unexpected as never,
  });
  return { inbox, ids };
}

test("I2: a message that still waits is the same one, and another text under its id a conflict", async () => {
  expect(await inboxBesideMail("hi", 6).inbox.accept(message("m"))).toMatchObject({ duplicate: true });
  await expect(inboxBesideMail("other", 6).inbox.accept(message("m"))).rejects.toThrow(IntakeRefusal);
});

test.each(["hi", "other"])(
  "I4: what was handled, erased and only not acked yet is nobody's message any more: %s",
  async (text) => {
    const { inbox, ids } = inboxBesideMail(text, 7);
    expect(await inbox.accept(message("m"))).toMatchObject({ duplicate: false });
    expect(ids[1]).toBe(`${ids[0]}:7`);
  },
);

test("I4: operators' mail is handled by a cursor of its own", async () => {
  const ops = { ...message("m"), origin: "ops" as const };
  expect(await inboxBesideMail("hi", 7, "user").inbox.accept(ops)).toMatchObject({ duplicate: true });
  expect(await inboxBesideMail("hi", 7, "ops").inbox.accept(ops)).toMatchObject({ duplicate: false });
});
