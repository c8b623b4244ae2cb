import type { LogMessage } from "@troupe/contracts";
import { runningTurn, sessionEntry, waitingMessage } from "@troupe/testkit";
import { describe, expect, it } from "vitest";
import { HttpProblem } from "../src/problem.js";
import { originFor, sessionRef } from "../src/session-access.js";
import { decodeCursor, encodeCursor } from "../src/session-list.js";
import { messagesView, sessionListItem, sessionView } from "../src/session-view.js";
import { waitingFor } from "../src/turn-wait.js";

const said = (content: string): LogMessage => ({
  role: "assistant",
  turn: "t_1",
  at: 1_700_000_000_000,
  content,
});

describe("sessionView", () => {
  const lease = { owner: "o-1", until: 2_000 };
  const view = (now: number) => sessionView("http:a", { ...sessionEntry(), revision: 3, queued: 0, lease }, now);

  it("shows a lease with its instant, and none once it has run out", () => {
    expect(view(1_999).lease).toEqual({ owner: "o-1", until: "1970-01-01T00:00:02.000Z" });
    expect(view(2_000).lease).toBeNull();
  });

  it("shows the turn with its state", () => {
    const entry = sessionEntry({ turn: runningTurn("t_1", "waiting_tasks") });
    expect(sessionView("http:a", { ...entry, revision: 3, queued: 0 }, 0).turn).toEqual({
      id: "t_1",
      status: "waiting_tasks",
      since: "2023-11-14T22:13:20.123Z",
      steps: 2,
    });
  });
});

describe("messagesView", () => {
  const segments = [{ from: 0, to: 10, level: 0, tokens: 50, beginsTurn: true, digest: "0".repeat(64) }];
  const log = { segments, from: 10, tail: [said("a"), said("b"), said("c")] };
  const sealed = Array.from({ length: 10 }, (_, i) => said(`sealed ${i}`));
  const read = (key: string) =>
    key.endsWith(`.0-10.${"0".repeat(64)}`)
      ? Promise.resolve(JSON.stringify({ messages: sealed }))
      : Promise.reject(new Error(`no segment ${key}`));
  const blobs = { get: () => Promise.resolve(undefined) };
  const view = (from: number, limit: number, shown = log) =>
    messagesView(sessionRef("http:a"), sessionEntry({ log: shown }), { range: { from, limit }, read, blobs });

  it.each([
    [10, 2, [10, 11], 12],
    [12, 5, [12], null],
    [13, 5, [], null],
    [99, 5, [], null],
    [0, 2, [0, 1], 2],
    [8, 4, [8, 9, 10, 11], 12],
  ])("from %i, at most %i: indexes %j, next %j", async (from, limit, indexes, next) => {
    const { messages, next: found, total } = await view(from, limit);
    expect(messages.map(({ index }) => index)).toEqual(indexes);
    expect(found).toBe(next);
    expect(total).toBe(13);
  });

  it("shows tool calls only when there are some, and a call's result with its flags", async () => {
    const calls = [{ id: "c1", type: "function" as const, function: { name: "now", arguments: "{}" } }];
    const head = { turn: "t_1", at: 1_700_000_000_000 };
    const tail: LogMessage[] = [
      { ...head, role: "assistant", content: null, tool_calls: calls },
      { ...head, role: "tool", tool_call_id: "c1", content: "12:00", isError: false, blob: null },
      { ...head, role: "assistant", content: "noon", tool_calls: [] },
    ];
    const { messages } = await view(0, 9, { segments: [], from: 0, tail });
    const at = "2023-11-14T22:13:20.000Z";
    expect(messages).toEqual([
      { index: 0, turn: "t_1", at, role: "assistant", content: null, tool_calls: calls },
      { index: 1, turn: "t_1", at, role: "tool", tool_call_id: "c1", content: "12:00", isError: false, blob: null },
      { index: 2, turn: "t_1", at, role: "assistant", content: "noon" },
    ]);
  });
});

describe("waitingFor", () => {
  it.each([
    ["nothing known", null, "queue", null],
    ["its own model call", sessionEntry({ turn: runningTurn("t_1") }), "model", "t_1"],
    ["its tasks", sessionEntry({ turn: runningTurn("t_1", "waiting_tasks") }), "tasks", "t_1"],
    ["the running turn", sessionEntry({ turn: runningTurn("t_0"), queued: [waitingMessage("t_1")] }), "queue", "t_0"],
    ["the one ahead", sessionEntry({ queued: [waitingMessage("t_9"), waitingMessage("t_1")] }), "queue", "t_9"],
    [
      "being taken up behind all",
      sessionEntry({ turn: runningTurn("t_0"), queued: [waitingMessage("t_9")] }),
      "queue",
      "t_9",
    ],
    [
      "the turn that took it in",
      sessionEntry({ turn: runningTurn("t_0"), steered: [waitingMessage("t_1")] }),
      "model",
      "t_0",
    ],
  ] as const)("%s", (_what, entry, kind, id) => {
    expect(waitingFor(entry, "t_1")).toEqual([{ kind, id }]);
  });
});

describe("session access", () => {
  it("writes into other channels only as admin or operator", () => {
    const foreign = sessionRef("telegram:1");
    expect(originFor(sessionRef("a"), { id: "u", role: "user" })).toBe("in");
    expect(originFor(foreign, { id: "u", role: "operator" })).toBe("ops");
    expect(() => originFor(foreign, { id: "u", role: "user" })).toThrow(
      expect.objectContaining({ status: 403, code: "forbidden" }),
    );
  });

  it("lists no erased session and no key that is no session", () => {
    expect(sessionListItem("http.a", sessionEntry())?.session).toBe("http:a");
    expect(sessionListItem("http.a", sessionEntry({ erased: true }))).toBeNull();
    expect(sessionListItem("nowhere.a", sessionEntry())).toBeNull();
  });
});

describe("cursor", () => {
  it("comes back as the key that it was made of", () => {
    for (const key of ["http.a", "telegram.42", "http.=E4=BD=A0_-"]) {
      expect(decodeCursor(encodeCursor(key))).toBe(key);
    }
  });

  it.each([
    "",
    "!",
    "aHR0cA",
    Buffer.from("http.*").toString("base64url"),
    Buffer.from("http.>").toString("base64url"),
  ])("%j is refused", (cursor) => {
    expect(() => decodeCursor(cursor)).toThrow(HttpProblem);
  });
});
