import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { natsServerBinary } from "@troupe/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { natsConfig } from "../src/nats-config.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-config-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("natsConfig", () => {
  it.each([
    { fsync: true, name: "plain" },
    { fsync: false, name: 'with "quotes", spaces, $SIGNS, # and 中文' },
  ])("is what the server understands: $name, fsync $fsync", ({ fsync, name }) => {
    const dataFolder = join(folder, name);
    mkdirSync(dataFolder);
    const file = join(folder, "nats-server.conf");
    writeFileSync(file, natsConfig({ dataFolder, port: -1, user: "troupe", pass: "p-_w", fsync }));
    // Given a configuration, `-t` reads all of it and refuses fields and values that it does not know.
    const check = () => execFileSync(natsServerBinary(), ["-t", "-c", file], { stdio: "pipe" });
    expect(check).not.toThrow();
  });
});
