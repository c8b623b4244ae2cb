import type { TroupeSystem } from "@troupe/testkit";
import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory } from "../system/valid-history.js";

const system = useTroupe({ orchestrators: 2 });

const SESSIONS = 12;
const TEXTS = ["one", "two", "three", "four", "five"];
/** The model calls, counted over all sessions, at which one of the orchestrators dies. */
const KILL_AT = [10, 24, 38, 52];

/** Answers the model's calls; at some of them it kills an orchestrator while every call under way is left open. */
function answerAndKill({ model, orchestrators }: TroupeSystem): () => number {
  let calls = 0;
  let kills = 0;
  let over = Promise.resolve();
  model.reply(async (request, respond) => {
    calls += 1;
    if (calls === KILL_AT[kills]) {
      const victim = orchestrators[kills++ % 2];
      over = Promise.resolve(victim?.kill("SIGKILL")).then(() => victim?.start());
    }
    await over;
    // Every third answer goes through two tools first, so that kills meet turns of both kinds.
    const wantsTools = request.lastUser.endsWith(" three") && request.body.messages?.at(-1)?.role !== "tool";
    if (!wantsTools) return respond.text(`echo: ${request.lastUser}`);
    respond.calls([
      { id: "a", name: "echo", arguments: { text: "x" } },
      { id: "b", name: "now", arguments: {} },
    ]);
  });
  return () => kills;
}

describe("orchestrators killed again and again under load", () => {
  it("every message gets exactly one answer, in order, and every history is valid", async () => {
    const kills = answerAndKill(system());
    const sessions = Array.from({ length: SESSIONS }, (_, n) => `load-${n}`);
    const all = await Promise.all(
      sessions.map((id) => {
        const chat = new Conversation(system(), id);
        // All at once: the queue behind the turn that is hit must survive as well.
        return Promise.all(TEXTS.map((text) => chat.say(`${id} ${text}`, { id: text })));
      }),
    );
    expect(kills()).toBe(KILL_AT.length);
    const record = await OutboxRecord.open(system());
    for (const [n, id] of sessions.entries()) {
      const answers = all[n] ?? [];
      for (const [place, text] of TEXTS.entries()) {
        expect(answers[place]?.final).toMatchObject({ kind: "answer", text: `echo: ${id} ${text}` });
      }
      const finals = await record.finals(`http:${id}`);
      expect(finals).toHaveLength(TEXTS.length);
      expect(new Set(finals.map(({ turn }) => turn))).toEqual(new Set(answers.map(({ turn }) => turn)));
      const messages = await new Conversation(system(), id).messages();
      expectValidHistory(messages);
      expect(messages.flatMap((message) => (message.role === "user" ? [message.turn] : []))).toEqual(
        finals.map(({ turn }) => turn),
      );
    }
    await record.close();
  });
});
