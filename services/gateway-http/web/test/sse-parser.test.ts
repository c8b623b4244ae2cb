import { describe, expect, it } from "vitest";
import { type SseEvent, SseParser } from "../src/sse-parser.js";

function parsed(pieces: readonly string[]): { events: SseEvent[]; lastEventId: string | null } {
  const events: SseEvent[] = [];
  const parser = new SseParser((event) => events.push(event));
  for (const piece of pieces) parser.push(piece);
  return { events, lastEventId: parser.lastEventId };
}

const STREAM = 'retry: 1000\n\n: alive\n\nevent: final\nid: 7\ndata: {"a":1}\ndata: more\n\nevent: delta\ndata:x\n\n';

describe("SseParser", () => {
  it("reads the same events however the stream is cut", () => {
    const whole = parsed([STREAM]);
    expect(whole).toEqual({
      events: [
        { event: "final", data: '{"a":1}\nmore' },
        { event: "delta", data: "x" },
      ],
      lastEventId: "7",
    });
    for (let at = 1; at < STREAM.length; at++) expect(parsed([STREAM.slice(0, at), STREAM.slice(at)])).toEqual(whole);
    expect(parsed(STREAM.split(""))).toEqual(whole);
    expect(parsed(STREAM.replaceAll("\n", "\r\n").split(""))).toEqual(whole);
  });

  it("asks again for an event that was cut in the middle", () => {
    expect(parsed(["id: 7\ndata: a\n\nid: 8\ndata: b\n"]).lastEventId).toBe("7");
  });
});
