import { blobNameOf } from "@troupe/contracts";
import { describe, expect, it } from "vitest";
import { StateLaws } from "./state-laws.mjs";

describe("the laws of the state", () => {
  const entry = (change: object = {}, fields: object = {}) => {
    const tail = [{ role: "user", content: "hi" }];
    const all = { generation: 1, turn: null, queued: [], steered: [], log: { from: 0, tail }, messageCount: 1 };
    const cursors = { user: 5, control: 5, ops: 5, cut: 5 };
    const head = { lease: null, epoch: 3, cursors, outstanding: [], mailStream: "m" };
    return JSON.stringify({ ...head, ...change, fields: { ...all, ...fields } });
  };
  const faultsAfter = (...texts: string[]): string[] => {
    const laws = new StateLaws("http:chaos-0", { note: () => undefined });
    for (const [n, text] of texts.entries()) laws.take({ revision: n + 1, text });
    return laws.faults;
  };

  it("hold for entries that go on", () => {
    expect(faultsAfter(entry(), entry({ epoch: 4 }), entry({ epoch: 4 }))).toEqual([]);
  });

  const content = "a beginning, and then the rest";
  const parted = (rest: string, change: object = {}) => {
    const length = content.indexOf(rest);
    const named = { blob: blobNameOf(rest), length: rest.length, tokens: 1 };
    const message = { role: "user", content: content.slice(0, length), rest: named, ...change };
    return entry({}, { log: { from: 0, tail: [message] } });
  };
  const whole = entry({}, { log: { from: 0, tail: [{ role: "user", content }] } });

  it("hold for a long text that is parted", () => {
    expect(faultsAfter(whole, parted("the rest"), parted("the rest"))).toEqual([]);
  });

  it.each<[string, string[]]>([
    ["parted into something else", [whole, parted("the rest", { content: "a" })]],
    ["parted and changed", [whole, parted("the rest", { role: "tool" })]],
    ["parted again", [whole, parted("the rest"), parted("rest")]],
    ["put together again", [whole, parted("the rest"), whole]],
  ])("are broken by a text that is %s", (_what, texts) => {
    expect(faultsAfter(...texts)).toHaveLength(1);
  });

  it("take what was promised before an erasure for gone, and keep what was promised since", () => {
    const laws = new StateLaws("http:chaos-0", { note: () => undefined });
    const promise = (id: string) => ({ kind: "publish", subject: "outbox.http.chaos-0", id });
    laws.take({ revision: 1, text: entry({ outstanding: [promise("k:0:0"), promise("k:0:1")] }) });
    laws.onErased();
    laws.take({ revision: 2, text: entry({ outstanding: [promise("k:1:0")] }) });
    expect([...laws.promised]).toEqual(["k:1:0"]);
  });

  it.each<[string, string]>([
    ["an epoch that goes back", entry({ epoch: 2 })],
    ["a cursor that goes back", entry({ cursors: { user: 4, control: 5, ops: 5, cut: 5 } })],
    ["another mail log", entry({ mailStream: "n" })],
    ["a generation that goes back", entry({}, { generation: 0 })],
    ["a shorter log", entry({}, { log: { from: 0, tail: [] }, messageCount: 0 })],
    ["a log that was rewritten", entry({}, { log: { from: 0, tail: [{ role: "user", content: "ho" }] } })],
  ])("are broken by %s", (_what, next) => {
    expect(faultsAfter(entry(), next)).toHaveLength(1);
  });
});
