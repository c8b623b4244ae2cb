import { SessionFields, type SessionKey } from "@troupe/contracts";
import type { BlobStore } from "@troupe/jetstream";
import { createLogger, createMetrics } from "@troupe/platform";
import { defineTool, echo, MAX_RESULT_LENGTH, readBlob, Toolbox } from "@troupe/tools";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { orchestratorMetrics } from "../src/orchestrator-metrics.js";
import { ToolRunner } from "../src/tool-runner.js";
import { TurnVoice } from "../src/turn-voice.js";

const KEY = "http.a" as SessionKey;
const LONG = `x${"👨‍👩‍👧‍👦".repeat(3_000)}`;

type Blobs = Pick<BlobStore, "put" | "get">;

function toolRunner(blobs: Blobs, toolbox = new Toolbox([echo, readBlob])): ToolRunner {
  return new ToolRunner({
    toolbox,
    blobs,
    voice: new TurnVoice({ publish: () => undefined }),
    log: createLogger({ service: "test", level: "silent" }),
    metrics: orchestratorMetrics(createMetrics("test")),
  });
}

function runnerOf(blobs: Blobs) {
  const runner = toolRunner(blobs);
  return async (name: string, input: unknown, generation = 0) => {
    const fields = SessionFields.parse({ ...EMPTY, generation });
    const call = { turn: "t_1", callId: "c", name, arguments: JSON.stringify(input), deadlineAt: Date.now() + 60_000 };
    const context = { key: KEY, runId: "r", epoch: 1, fields };
    const outcome = await runner.run({ kind: "tool", ...call }, context, new AbortController().signal);
    return outcome?.result;
  };
}

const EMPTY = {
  createdAt: 1,
  updatedAt: 1,
  messageCount: 0,
  lastConsolidated: 0,
  log: { from: 0, tail: [] },
  turn: null,
  queued: [],
  steered: [],
  introduced: false,
  summary: null,
  recent: [],
  controls: [],
  erased: false,
};

function memoryBlobs(): Blobs {
  const stored = new Map<string, string>();
  return {
    put: async ({ key, generation }, text) => {
      stored.set(`${key}/${generation}/blob`, text);
      return "blob";
    },
    get: async ({ key, generation }, name) => stored.get(`${key}/${generation}/${name}`),
  };
}

it("a long result that cannot be stored is cut between characters, and says that the rest is lost", async () => {
  const run = runnerOf({ put: () => Promise.reject(new Error("away")), get: () => Promise.resolve(undefined) });
  const result = await run("echo", { text: LONG });
  expect(result).toMatchObject({ isError: false, blob: null, content: expect.stringMatching(/could not be stored/) });
  const kept = result?.content.split("\n")[0] ?? "";
  expect((kept.length - 1) % "👨‍👩‍👧‍👦".length).toBe(0);
  expect(result?.content.length).toBeLessThanOrEqual(MAX_RESULT_LENGTH);
});

it("a long result is read on in its own generation, and in no other", async () => {
  const run = runnerOf(memoryBlobs());
  const blob = (await run("echo", { text: LONG }, 3))?.blob ?? "";
  expect(await run("read_blob", { blob, offset: 0 }, 3)).toMatchObject({ isError: false });
  for (const generation of [2, 4])
    expect(await run("read_blob", { blob }, generation)).toMatchObject({ isError: true });
});

/** A tool that goes on until it is told to stop. */
function endless() {
  const seen = { started: false, stopped: false };
  const tool = defineTool({
    name: "endless",
    description: "Goes on and on.",
    input: z.strictObject({}),
    isIdempotent: true,
    timeoutMs: 60_000,
    run: (_input, { signal }) => {
      seen.started = true;
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          seen.stopped = true;
          resolve({ content: "stopped", isError: true });
        });
      });
    },
  });
  const runner = toolRunner(memoryBlobs(), new Toolbox([tool]));
  const context = { key: KEY, runId: "r", epoch: 1, fields: SessionFields.parse({ ...EMPTY, generation: 0 }) };
  const call = (timeMs: number) =>
    ({
      kind: "tool",
      turn: "t_1",
      callId: "c",
      name: "endless",
      arguments: "",
      deadlineAt: Date.now() + timeMs,
    }) as const;
  return { seen, run: (timeMs: number, aborted: AbortSignal) => runner.run(call(timeMs), context, aborted) };
}

it("a tool whose time is up is told to stop", async () => {
  const { seen, run } = endless();
  const outcome = await run(500, new AbortController().signal);
  expect(seen).toEqual({ started: true, stopped: true });
  expect(outcome?.result).toMatchObject({ isError: true });
});

it("a tool whose run is aborted is told to stop, and nobody hears of its result", async () => {
  const { seen, run } = endless();
  const abort = new AbortController();
  const outcome = run(60_000, abort.signal);
  await vi.waitFor(() => expect(seen.started).toBe(true));
  abort.abort();
  expect(await outcome).toBeUndefined();
  expect(seen.stopped).toBe(true);
});
