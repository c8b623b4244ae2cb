import type { ServiceProcess } from "@troupe/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { ownerOf } from "../system/owner-of.js";
import { useTroupe } from "../system/use-troupe.js";
import { expectValidHistory, outline } from "../system/valid-history.js";

/** The budget for turns of a killed orchestrator. */
const TAKEOVER_MS = 15_000;
const LEASE_MS = 10_000;

const system = useTroupe({ orchestrators: 2 });
const talk = (id: string): Conversation => new Conversation(system(), id);
let record: OutboxRecord;

beforeAll(async () => {
  record = await OutboxRecord.open(system());
});
afterAll(() => record.close());
beforeEach(async () => {
  const dead = system().orchestrators.filter(({ isRunning }) => !isRunning);
  await Promise.all(dead.map((service) => service.start()));
});

describe("two orchestrators", () => {
  it("share the work, and each message is answered once", async () => {
    const sessions = Array.from({ length: 40 }, (_, n) => `share-${n}`);
    await Promise.all(sessions.map((id) => talk(id).say(`hello ${id}`)));
    for (const id of sessions) expect(await record.finals(`http:${id}`)).toHaveLength(1);
    for (const service of system().orchestrators) {
      expect(await service.metric("troupe_kernel_events_total", { kind: "committed" }), service.name).toBeGreaterThan(
        0,
      );
    }
    expect(system().model.requests.filter(({ lastUser }) => lastUser.includes("share-"))).toHaveLength(40);
  });
});

describe("an orchestrator killed in the middle of a model call", () => {
  it("delays the turn by less than 15 s, and the person sees one answer", async () => {
    const chat = talk("killed");
    const gate = system().model.hold("are you there?");
    const waiting = chat.say("are you there?");
    const lostCall = await gate.arrived;
    const owner = await ownerOf(system(), chat);
    const killedAt = performance.now();
    await owner.kill("SIGKILL");
    expect(await lostCall.over).toEqual({ clientLeft: true });
    const { final } = await waiting;
    const tookMs = performance.now() - killedAt;
    gate.release();
    console.log(`a killed orchestrator delayed its turn by ${Math.round(tookMs)} ms`);
    expect(final).toMatchObject({ kind: "answer", text: "echo: are you there?" });
    expect(tookMs).toBeLessThan(TAKEOVER_MS);
    expect(await record.finals("http:killed")).toEqual([final]);
    expect(outline(await chat.messages())).toEqual(["user: are you there?", "assistant: echo: are you there?"]);
    expect((await chat.say("good")).final.text).toBe("echo: good");
  });

  it("loses no message that waits behind the turn", async () => {
    const chat = talk("killed-queue");
    const gate = system().model.hold("first");
    const waiting = [chat.say("first")];
    await gate.arrived;
    for (const text of ["second", "third"]) {
      await chat.send(text, { id: text });
      waiting.push(chat.say(text, { id: text }));
    }
    await (await ownerOf(system(), chat)).kill("SIGKILL");
    const finals = (await Promise.all(waiting)).map(({ final }) => final);
    gate.release();
    expect(finals.map(({ text }) => text)).toEqual(["echo: first", "echo: second", "echo: third"]);
    expect(await record.finals("http:killed-queue")).toEqual(finals);
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(outline(messages).filter((line) => line.startsWith("user"))).toEqual([
      "user: first",
      "user: second",
      "user: third",
    ]);
  });

  it("can still be cancelled by the person, whoever takes over", async () => {
    const chat = talk("killed-cancel");
    // The second one is for whoever takes over: were it answered, the turn could end before the cancel arrives.
    const gates = [system().model.hold("never mind"), system().model.hold("never mind")];
    const waiting = chat.say("never mind");
    await gates[0]?.arrived;
    await (await ownerOf(system(), chat)).kill("SIGKILL");
    expect(await chat.control("cancel")).toMatchObject({ status: 200, body: { cancelled: true } });
    const { final } = await waiting;
    for (const gate of gates) gate.release();
    expect(final.kind).toBe("cancelled");
    expect(await record.finals("http:killed-cancel")).toEqual([final]);
    expectValidHistory(await chat.messages());
  });
});

describe("an orchestrator that stood still", () => {
  it.each([
    ["for longer than its lease", true],
    // By its own clock it still holds the lease: it tries to write what it knows, and is refused.
    ["until the other had finished its turn, still sure of its lease", false],
  ])("%s: what it knew when it woke up is not said", async (_name, beyondLease) => {
    const id = beyondLease ? "zombie" : "early-zombie";
    const chat = talk(id);
    const gate = system().model.hold(`still there, ${id}?`, (_request, respond) => respond.text("words of the dead"));
    const waiting = chat.say(`still there, ${id}?`);
    await gate.arrived;
    const zombie = await ownerOf(system(), chat);
    zombie.pause();
    const pausedAt = Date.now();
    const { final } = await waiting;
    expect(final).toMatchObject({ kind: "answer", text: `echo: still there, ${id}?` });
    if (beyondLease) await chat.until("its lease has run out", () => Date.now() > pausedAt + LEASE_MS + 500);
    const mark = zombie.output.mark;
    // It lies in its socket when it wakes up.
    gate.release();
    zombie.resume();
    await zombie.output.waitFor("lost the lease", mark);
    expect((await chat.say("and now?")).final.text).toBe("echo: and now?");
    expect((await record.finals(`http:${id}`)).map(({ text }) => text)).toEqual([final.text, "echo: and now?"]);
    const messages = await chat.messages();
    expectValidHistory(messages);
    expect(messages).toHaveLength(4);
    expect(JSON.stringify(messages)).not.toContain("words of the dead");
  });
});

describe("all orchestrators killed", () => {
  it("are replaced by a new one that finishes everything", async () => {
    const sessions = Array.from({ length: 6 }, (_, n) => `all-${n}`);
    const gates = sessions.map((id) => system().model.hold(id));
    const waiting = sessions.map((id) => talk(id).say(`hello ${id}`));
    await Promise.all(gates.map(({ arrived }) => arrived));
    const dead: ServiceProcess[] = [...system().orchestrators];
    await Promise.all(dead.map((service) => service.kill("SIGKILL")));
    for (const gate of gates) gate.release();
    // Taken in while nobody is there.
    const late = talk("all-late").say("anybody?");
    const fresh = await system().addOrchestrator();
    for (const [n, answer] of (await Promise.all(waiting)).entries()) {
      expect(answer.final).toMatchObject({ kind: "answer", text: `echo: hello all-${n}` });
      expect(await record.finals(`http:all-${n}`)).toEqual([answer.final]);
    }
    expect((await late).final.text).toBe("echo: anybody?");
    await fresh.stop();
  });
});
