import { execFile } from "node:child_process";
import { join } from "node:path";
import { projectRoot } from "@troupe/testkit";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { BareNats } from "./hostile-nats.js";

/** What the doctor says of a whole installation: the truth, and what to do. */
const system = useTroupe({ config: "retention:\n  sessions:\n    maxBytes: 1048576\n" });

function doctor() {
  const { natsUrl, dataFolder, model, url } = system();
  const env = {
    PATH: process.env.PATH,
    NATS_URL: natsUrl,
    TROUPE_DATA: dataFolder,
    TROUPE_HTTP_PORT: new URL(url).port,
    OPENAI_BASE_URL: model.url,
    TROUPE_MODEL: "scripted",
  };
  const command = join(projectRoot, "deploy/local/dist/troupe.js");
  return new Promise<{ code: number; lines: string[] }>((resolve) => {
    execFile(process.execPath, [command, "doctor"], { env }, (error, out) => {
      resolve({ code: error === null ? 0 : Number(error.code), lines: out.trim().split("\n") });
    });
  });
}

const orchestrator = () => {
  const [first] = system().orchestrators;
  if (first === undefined) throw new Error("no orchestrator runs");
  return first;
};

it("finds all well in a running installation", async () => {
  const { code, lines } = await doctor();
  expect(lines).toEqual([
    `ok       node: ${process.versions.node}`,
    `ok       data folder: ${system().dataFolder}`,
    `ok       gateway: ${system().url}`,
    expect.stringMatching(/^ok {7}NATS: version 2\.\d+\.\d+ with JetStream at nats:/),
    "ok       orchestrator: takes messages, 0 waiting",
    expect.stringMatching(/^ok {7}model: scripted at 127\.0\.0\.1:\d+$/),
  ]);
  expect(code).toBe(0);
});

describe("an orchestrator", () => {
  afterEach(() => orchestrator().resume());

  it("that is halted is found out at once, and what waits for one is counted", async () => {
    orchestrator().pause();
    const chat = new Conversation(system(), "halted");
    await chat.send("anyone there?");
    const { code, lines } = await doctor();
    expect(lines).toContain(
      "broken   orchestrator: none takes messages, 1 waiting; start one: npx troupe start orchestrator; one that hangs is to be killed",
    );
    expect(code).toBe(1);
  });
});

describe("a store", () => {
  let nats: BareNats | undefined;
  afterEach(async () => {
    await nats?.ask("$JS.API.STREAM.PURGE.KV_sessions", JSON.stringify({ filter: "$KV.sessions.http.ballast" }));
    nats?.close();
  });

  it("that is full is named with the setting that raises it", async () => {
    nats = await BareNats.open(system().nats);
    await nats.ask("$KV.sessions.http.ballast", "x".repeat(990_000));
    await vi.waitFor(async () => expect(JSON.stringify((await system().api("/readyz")).body)).toContain("full"));
    const { code, lines } = await doctor();
    expect(lines).toContain(
      "broken   gateway: store sessions is full; raise retention.sessions.maxBytes in troupe.yaml and start again, or erase sessions: DELETE /v1/sessions/{s}",
    );
    expect(code).toBe(1);
  });
});

it("without any orchestrator says how to start one", async () => {
  await orchestrator().kill("SIGTERM");
  const { code, lines } = await doctor();
  expect(lines.filter((line) => line.startsWith("broken"))).toContainEqual(
    expect.stringMatching(/^broken {3}orchestrator: none takes messages, \d+ waiting; start one: npx troupe start/),
  );
  expect(code).toBe(1);
});
