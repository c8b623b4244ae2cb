import { type SessionKey, turnIdOf } from "@troupe/contracts";
import { answered, sessionEntry } from "@troupe/testkit";
import { expect, test } from "vitest";
import { contentDigest, MessageInbox } from "../src/index.js";

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
