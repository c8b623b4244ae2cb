import { execFile } from "node:child_process";
import { chmodSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { natsServerBinary } from "@troupe/testkit";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildProject, Installation } from "./installation.js";

const command = fileURLToPath(new URL("../dist/troupe.js", import.meta.url));

let here: Installation;
beforeAll(buildProject);
beforeEach(() => {
  here = new Installation({ PATH: process.env.PATH, NATS_SERVER_BIN: natsServerBinary() });
});
afterEach(() => here.sweep());

function troupe(args: string[], env: NodeJS.ProcessEnv = {}) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [command, ...args], { env: { ...here.env, ...env } }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

describe("troupe doctor", () => {
  it("names what is broken, each in one line, and ends with 1", async () => {
    chmodSync(here.dataFolder, 0o755);
    const env = { NATS_URL: "nats://127.0.0.1:1", OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
    const { code, out } = await troupe(["doctor"], { ...env, TROUPE_HTTP_PORT: "1" });
    expect(out.split("\n").slice(1)).toEqual([
      `broken   data folder: others on this machine can read ${here.dataFolder}; chmod go-rwx ${here.dataFolder}`,
      "broken   gateway: no answer from 127.0.0.1:1; start it: npm start",
      "broken   NATS: NATS at 127.0.0.1:1: nothing listens there; start it: npm start, or correct NATS_URL",
      "broken   model: no answer from 127.0.0.1:1; check OPENAI_BASE_URL, or the servers under providers",
      "",
    ]);
    expect(code).toBe(1);
  });

  it("names a wrong setting", async () => {
    const { code, out } = await troupe(["doctor"], { LOG_LEVEL: "loud" });
    expect(out).toMatch(/^broken {3}configuration: LOG_LEVEL: expected one of: .*; correct it$/m);
    expect(code).toBe(1);
  });
});

describe("troupe", () => {
  it.each([[["bogus"]], [["start"]], [["start", "bogus"]], [["up", "--bogus"]], [[]]])(
    "%j is wrong usage",
    async (args) => {
      const { code, err } = await troupe(args);
      expect(code).toBe(2);
      expect(err).not.toBe("");
    },
  );

  it("shows its commands and no others", async () => {
    const { code, out } = await troupe(["--help"]);
    expect(code).toBe(0);
    const commands = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    expect(commands).toEqual(["up", "start", "chat", "sessions", "dead", "doctor", "help"]);
  });
});
