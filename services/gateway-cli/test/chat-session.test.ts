import { afterEach, beforeEach, expect, test } from "vitest";
import { ChatSession } from "../src/chat-session.js";
import { GatewayClient } from "../src/gateway-client.js";
import { eventually } from "./eventually.js";
import { FakeGateway, type FakeTurn, TOKEN } from "./fake-gateway.js";
import { RecordedView } from "./recorded-view.js";

const SESSION = "http:me";

let gateway: FakeGateway;
let view: RecordedView;
let chat: ChatSession | undefined;
let left: boolean;

beforeEach(async () => {
  gateway = await FakeGateway.start();
  view = new RecordedView();
  left = false;
});

afterEach(async () => {
  chat?.close();
  await gateway.stop();
});

async function openChat(token = TOKEN): Promise<ChatSession> {
  const client = new GatewayClient({ url: gateway.url, token, tokenSource: "the test", local: true });
  const leave = (): void => void (left = true);
  chat = await ChatSession.open(SESSION, { client, view, historyCount: 5, leave });
  return chat;
}

/** The turn of a message once it has arrived. */
async function turnOf(text: string): Promise<FakeTurn> {
  return eventually(() => {
    const turn = gateway.turns.find((each) => each.text === text);
    if (turn === undefined) throw new Error(`no message ${text}`);
    return turn;
  });
}

function delta({ turn }: FakeTurn, seq: number, text: string, attempt = 1): void {
  gateway.live(SESSION, "delta", { turn, attempt, seq, text });
}

const sees = (line: string): Promise<void> => eventually(() => expect(view.lines).toContain(line));

test("streams deltas as a preview that the final replaces", async () => {
  const { submit } = bound(await openChat());
  submit("hi");
  const turn = await turnOf("hi");
  delta(turn, 0, "Hel");
  delta(turn, 1, "lo");
  await eventually(() => expect(view.previewNow).toBe("Hello"));
  gateway.final(turn, { text: "Hello there" });
  await sees("answer: Hello there");
  expect(view.previews).toEqual(["Hel", "Hello", ""]);
  await eventually(() => expect(view.statusNow).toBe(""));
});

test("C3: a final that comes twice, and deltas that come after it, show nothing more", async () => {
  const { submit } = bound(await openChat());
  submit("hi");
  const turn = await turnOf("hi");
  gateway.final(turn, { text: "once" });
  gateway.final(turn, { text: "once" });
  delta(turn, 5, "late");
  gateway.durable(SESSION, "notice", { turn: null, level: "info", text: "the end" });
  await sees("quiet: the end");
  expect(view.count("answer: once")).toBe(1);
  expect(view.previewNow).toBe("");
});

test("a reset throws the preview away", async () => {
  const { submit } = bound(await openChat());
  submit("hi");
  const turn = await turnOf("hi");
  delta(turn, 0, "wrong");
  gateway.live(SESSION, "reset", { turn: turn.turn, attempt: 2, reason: "recovered" });
  delta(turn, 0, "right", 2);
  gateway.final(turn, { text: "right" });
  await sees("answer: right");
  expect(view.previews).toEqual(["wrong", "", "right", ""]);
});

test("a cancel ends the turn, and says so", async () => {
  const session = await openChat();
  session.submit("hi");
  await turnOf("hi");
  await eventually(() => expect(session.conversation.busy).toBe(true));
  session.cancel();
  await sees("warning: cancelled");
  expect(gateway.cancelled).toEqual([SESSION]);
  await eventually(() => expect(session.conversation.busy).toBe(false));
  session.submit("/cancel");
  await sees("quiet: nothing is running");
});

test("a cancel that did not get through can be asked for again", async () => {
  const session = await openChat();
  session.submit("hi");
  await turnOf("hi");
  gateway.refusals.push({ match: /cancel$/, reply: { status: 500, body: { detail: "the server failed" } } });
  session.cancel();
  await sees("error: the server failed");
  expect(session.conversation.cancelAsked).toBe(false);
  expect(view.statusNow).toContain("working");
  session.cancel();
  await sees("warning: cancelled");
});

test("errors, tools, approvals and notices are shown for what they are", async () => {
  const { submit } = bound(await openChat());
  submit("hi");
  const turn = await turnOf("hi");
  const tool = { turn: turn.turn, callId: "c1", name: "exec", summary: "ls" };
  gateway.live(SESSION, "tool", { ...tool, status: "started" });
  await eventually(() => expect(view.statusNow).toBe("tool exec … ls"));
  gateway.live(SESSION, "tool", { ...tool, status: "denied" });
  const approval = { id: "ap_1", turn: turn.turn, tool: "exec", arguments: { command: "ls" }, status: "pending" };
  gateway.durable(SESSION, "approval", approval);
  gateway.durable(SESSION, "notice", { turn: turn.turn, level: "warn", text: "still working" });
  const error = { code: "model_unavailable", retryable: true };
  gateway.final(turn, { kind: "error", text: "The model does not answer.", error });
  await sees("error: error (model_unavailable): The model does not answer.");
  expect(view.lines).toContain("quiet: tool exec denied ls");
  expect(view.lines).toContain('warning: approval wanted for exec {"command":"ls"}: decide ap_1 in the console');
  expect(view.lines).toContain("warning: still working");
});

test("C2: a second message is sent while a turn runs, and shown as queued", async () => {
  const { submit } = bound(await openChat());
  submit("first");
  const first = await turnOf("first");
  submit("second");
  await sees("quiet: queued: it follows the turn that is running");
  gateway.final(first, { text: "one" });
  gateway.final(await turnOf("second"), { text: "two" });
  await sees("answer: two");
  expect(view.lines.filter((line) => line.startsWith("answer"))).toEqual(["answer: one", "answer: two"]);
});

test("after a broken connection the events go on from the last one seen", async () => {
  const { submit } = bound(await openChat());
  submit("hi");
  const turn = await turnOf("hi");
  gateway.durable(SESSION, "notice", { turn: null, level: "info", text: "one" });
  await sees("quiet: one");
  gateway.durable(SESSION, "notice", { turn: null, level: "info", text: "two" }, { unseen: true });
  gateway.final(turn, { text: "the answer" }, { unseen: true });
  gateway.dropStreams();
  await sees("answer: the answer");
  await sees("quiet: two");
  expect(gateway.requests.filter(({ path }) => path.endsWith("/events")).at(-1)?.lastEventId).toBe("1");
  expect(view.count("quiet: one")).toBe(1);
  expect(view.count("answer: the answer")).toBe(1);
});

test("C4: a final lost with the first connection is asked for again", async () => {
  const { submit } = bound(await openChat());
  submit("hi");
  gateway.final(await turnOf("hi"), { text: "the answer" }, { unseen: true });
  gateway.dropStreams();
  await sees("answer: the answer");
  expect(gateway.turns).toHaveLength(1);
});

test("C1: after 503 and after a broken connection the same message is sent under the same id", async () => {
  const post = /^POST .*\/messages/;
  gateway.refusals.push({ match: post, reply: { status: 503, headers: { "retry-after": "0" } } });
  gateway.refusals.push({ match: post, reply: "hang up" });
  gateway.onTurn = (turn) => gateway.final(turn, { text: "fine" });
  const { submit } = bound(await openChat());
  submit("hi");
  await sees("answer: fine");
  const posts = gateway.requests.filter(({ method }) => method === "POST");
  expect(posts).toHaveLength(3);
  expect(new Set(posts.map(({ body }) => body)).size).toBe(1);
  expect(gateway.turns).toHaveLength(1);
});

test("a message that is refused is not sent again, and the chat goes on", async () => {
  const problem = { title: "Unprocessable", detail: "text is too long", code: "invalid" };
  gateway.refusals.push({ match: /^POST .*\/messages/, reply: { status: 422, body: problem } });
  gateway.onTurn = (turn) => gateway.final(turn, { text: "fine" });
  const { submit } = bound(await openChat());
  submit("too long");
  await sees("error: not sent: text is too long");
  submit("short");
  await sees("answer: fine");
  expect(gateway.turns.map(({ text }) => text)).toEqual(["short"]);
});

test("shows the end of the history, and an answer in it not again", async () => {
  for (let turn = 0; turn < 4; turn++) {
    gateway.log(SESSION, { turn: `t_h${turn}`, role: "user", content: `question ${turn}` });
    gateway.log(SESSION, { turn: `t_h${turn}`, role: "assistant", content: `answer ${turn}` });
  }
  await openChat();
  expect(view.lines).toEqual([
    "quiet: 3 earlier messages: /history [n] shows more",
    "answer: answer 1",
    "question: question 2",
    "answer: answer 2",
    "question: question 3",
    "answer: answer 3",
  ]);
  gateway.final({ session: SESSION, turn: "t_h3", text: "" }, { text: "answer 3" });
  gateway.durable(SESSION, "notice", { turn: null, level: "info", text: "the end" });
  await sees("quiet: the end");
  expect(view.count("answer: answer 3")).toBe(1);
});

test("commands: another conversation, a new beginning, a hint, and leaving", async () => {
  gateway.log("http:other", { turn: "t_o", role: "user", content: "hello from there" });
  gateway.onTurn = (turn) => gateway.final(turn, { text: `in ${turn.session}` });
  const { submit } = bound(await openChat());
  submit("/nope");
  submit("/session other");
  submit("/sessions");
  submit("go");
  await sees("answer: in http:other");
  expect(view.lines).toContain("question: hello from there");
  expect(view.lines.some((line) => line.includes("there is no /nope"))).toBe(true);
  expect(view.lines.some((line) => line.includes("http:other"))).toBe(true);
  submit("/reset");
  await sees("quiet: the conversation begins anew");
  submit("/quit");
  await eventually(() => expect(left).toBe(true));
});

test("what others ask in the same conversation is shown too, as theirs", async () => {
  const session = await openChat();
  const theirs = { session: SESSION, turn: "t_theirs", text: "" };
  delta(theirs, 0, "their answ");
  await eventually(() => expect(view.previewNow).toBe("their answ"));
  expect(session.conversation.busy).toBe(true);
  gateway.final(theirs, { text: "their answer" });
  await sees("answer: their answer");
  gateway.onTurn = (turn) => gateway.final(turn, { text: "my answer" });
  session.submit("mine");
  await sees("answer: my answer");
  expect(view.asked).toEqual(["my answer"]);
});

test("a conversation that was left shows nothing any more", async () => {
  const { submit } = bound(await openChat());
  submit("slow");
  const turn = await turnOf("slow");
  delta(turn, 0, "a preview");
  await eventually(() => expect(view.previewNow).toBe("a preview"));
  submit("/session other");
  await eventually(() => expect(gateway.connected(SESSION)).toBe(0));
  await eventually(() => expect([view.previewNow, view.statusNow]).toEqual(["", ""]));
  gateway.final(turn, { text: "too late" });
  gateway.onTurn = (other) => gateway.final(other, { text: "here" });
  submit("hello");
  await sees("answer: here");
  expect(view.lines).not.toContain("answer: too late");
});

test("a token that is refused names where it is read from", async () => {
  await expect(openChat("wrong")).rejects.toThrow(/does not accept the token \(read from the test\)/);
});

function bound(session: ChatSession): { submit: (line: string) => void } {
  return { submit: (line) => session.submit(line) };
}
