import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, startRig } from "./model-fixture.js";

/** Where the body that came over the socket is split before the adapter sees it. */
let border: number | "everywhere" = 0;

/** A socket may join what was written apart, so the borders are set behind it. */
const splitFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const pieces =
    border === "everywhere"
      ? Array.from(bytes, (byte) => Uint8Array.of(byte))
      : [bytes.slice(0, border), bytes.slice(border)];
  return new Response(ReadableStream.from(pieces), response);
};

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ fetch: splitFetch });
});
afterAll(() => rig.server.close());

const chunk = (delta: unknown, finish: string | null = null): string =>
  JSON.stringify({ model: "m", choices: [{ index: 0, delta, finish_reason: finish }] });

const text = [chunk({ content: "é世🙂" }), chunk({}, "stop")];
const call = [
  chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "echo", arguments: '{"t":"ü' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '🙂"}' } }] }, "tool_calls"),
];
const frame = (events: readonly string[], newline: string): string =>
  events.map((event) => `data: ${event}${newline}${newline}`).join("");

const streams: readonly (readonly [string, string])[] = [
  ["text", `${frame(text, "\n")}data: [DONE]\n\n`],
  [
    "text with CRLF, comments and event names",
    `: hi\r\n\r\nevent: message\r\n${frame(text, "\r\n")}data: [DONE]\r\n\r\n`,
  ],
  ["a tool call without spaces after the colon", `${frame(call, "\n").replaceAll("data: ", "data:")}data:[DONE]\n\n`],
  ["text whose last event has no empty line", `${frame(text, "\n")}data: [DONE]`],
];

const expectedOf = (stream: string): unknown =>
  stream.includes("tool_calls") ? ["", [{ id: "c1", name: "echo", arguments: '{"t":"ü🙂"}' }]] : ["é世🙂", []];

describe.each(streams)("%s", (_name, stream) => {
  const readAt = async (at: typeof border): Promise<string> => {
    border = at;
    rig.server.enqueue((_request, respond) => respond.bytes([stream]));
    const { outcome } = await rig.call();
    return JSON.stringify(outcome.kind === "answer" ? [outcome.text, outcome.calls] : outcome);
  };

  test("split in two at every byte", async () => {
    const answers = new Set<string>();
    for (let at = 0; at <= Buffer.byteLength(stream); at += 1) answers.add(await readAt(at));
    expect([...answers]).toEqual([JSON.stringify(expectedOf(stream))]);
  });

  test("split into single bytes", async () => {
    expect(await readAt("everywhere")).toBe(JSON.stringify(expectedOf(stream)));
  });
});

test("multi-byte characters split over the packets of a socket", async () => {
  const direct = await startRig();
  const bytes = Buffer.from(streams[0]?.[1] ?? "");
  direct.server.enqueue((_request, respond) => respond.bytes(Array.from(bytes, (byte) => Uint8Array.of(byte))));
  expect((await direct.call()).outcome).toMatchObject({ kind: "answer", text: "é世🙂" });
  await direct.server.close();
});
