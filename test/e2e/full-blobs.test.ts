import { expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";

/** A store of large texts that has no room ends the turns that need it, and no others. */
const system = useTroupe({ config: "retention:\n  blobs:\n    maxBytes: 1048576\n" });
const LARGE = 400_000;

it("a full store of large texts ends a turn with an error, says so in the log, and spares other turns", async () => {
  const finals: string[] = [];
  for (let n = 1; n <= 4; n += 1) {
    const chat = new Conversation(system(), `http:large-${n}`);
    finals.push((await chat.say(`${n} ${"x".repeat(LARGE)}`)).final.kind);
  }
  expect(finals[0]).toBe("answer");
  expect(finals.at(-1)).toBe("error");
  const last = new Conversation(system(), "http:large-4");
  expect((await last.say("and a short one")).final.kind).toBe("answer");
  expect(system().logs()).toMatch(/\(blobs\) is full: raise retention\.blobs\.maxBytes/);
});
