import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { ownerOf } from "../system/owner-of.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory } from "../system/valid-history.js";

const system = useTroupe({ orchestrators: 2 });

describe("orchestrators restarted one after the other under load", () => {
  it("end in good order, and nobody notices: every message gets one answer, none is an error", async () => {
    let isLoaded = true;
    const sessions = Array.from({ length: 12 }, (_, n) => `roll-${n}`);
    const talks = sessions.map(async (id) => {
      const chat = new Conversation(system(), id);
      let sent = 0;
      // At least one message of each is on its way at every moment of the restarts.
      for (; isLoaded; sent++) expect((await chat.say(`${id} ${sent}`)).final.kind).toBe("answer");
      return sent;
    });
    try {
      for (const service of system().orchestrators) {
        expect(await service.kill("SIGTERM")).toEqual({ code: 0, signal: null });
        await service.start();
      }
    } finally {
      isLoaded = false;
    }
    const counts = await Promise.all(talks);
    const record = await OutboxRecord.open(system());
    for (const [n, id] of sessions.entries()) {
      const finals = await record.finals(`http:${id}`);
      expect(finals.map(({ text }) => text)).toEqual(
        Array.from({ length: counts[n] ?? 0 }, (_, i) => `echo: ${id} ${i}`),
      );
      const messages = await new Conversation(system(), id).messages();
      expect(messages).toHaveLength(2 * (counts[n] ?? 0));
      expectValidHistory(messages);
    }
    console.log(`rolling restart: ${counts.reduce((sum, count) => sum + count, 0)} messages answered`);
    await record.close();
  });

  it("hand over a turn whose model call takes longer than they may", async () => {
    const chat = new Conversation(system(), "long");
    const gate = system().model.hold("a long one");
    const waiting = chat.say("a long one");
    await gate.arrived;
    const owner = await ownerOf(system(), chat);
    const askedAt = performance.now();
    expect(await owner.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    console.log(`an orchestrator with a held model call ended after ${Math.round(performance.now() - askedAt)} ms`);
    expect((await waiting).final).toMatchObject({ kind: "answer", text: "echo: a long one" });
    gate.release();
    await owner.start();
  });
});
