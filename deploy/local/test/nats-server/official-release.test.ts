import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checksumFor, fromOfficialRelease } from "../../src/nats-server/official-release.js";

const SCRIPT = '#!/bin/sh\necho "nats-server: v2.15.1"\n';

let folder: string;
let server: Server;
/** Name of the archive that was asked for: it depends on the machine. */
let archive: string;
let sums: (archive: Buffer) => string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "troupe-release-"));
  server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? "";
    if (name !== "SHA256SUMS") return void response.end(readFileSync(join(folder, name)));
    response.end(sums(readFileSync(join(folder, archive))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cpu = { x64: "amd64", arm64: "arm64" }[process.arch as "x64" | "arm64"];
  const base = `nats-server-v2.15.1-${process.platform}-${cpu}`;
  archive = `${base}.tar.gz`;
  mkdirSync(join(folder, base));
  writeFileSync(join(folder, base, "nats-server"), SCRIPT);
  execFileSync("tar", ["-czf", archive, base], { cwd: folder });
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const digest = (content: Buffer) => createHash("sha256").update(content).digest("hex");
const target = () => join(folder, "nats-server");
const fetchRelease = () => {
  const { port } = server.address() as AddressInfo;
  return fromOfficialRelease(target(), () => undefined, `http://127.0.0.1:${port}`);
};

describe("fromOfficialRelease", () => {
  it("unpacks an archive that matches its checksum", async () => {
    sums = (content) => `${"0".repeat(64)}  other.tar.gz\n${digest(content)}  ${archive}\n`;
    expect(await fetchRelease()).toBeUndefined();
    expect(execFileSync(target(), { encoding: "utf8" })).toContain("v2.15.1");
  });

  it("keeps nothing of an archive that does not match or is not listed", async () => {
    sums = () => `${"0".repeat(64)}  ${archive}\n`;
    expect(await fetchRelease()).toContain("does not match its checksum");
    sums = () => "";
    expect(await fetchRelease()).toContain("does not name");
    expect(existsSync(target())).toBe(false);
  });

  it("says why when the host cannot be reached", async () => {
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const reason = await fromOfficialRelease(target(), () => undefined, `http://127.0.0.1:${port}`);
    expect(reason).toContain("ECONNREFUSED");
  });
});

describe("checksumFor", () => {
  it("reads both forms of sha256sum's output", () => {
    const sum = "ab".repeat(32);
    expect(checksumFor(`${sum}  a.zip\n${sum.toUpperCase()} *b.zip\n`, "b.zip")).toBe(sum);
    expect(checksumFor(`${sum}  a.zip\n`, "zip")).toBeUndefined();
    expect(checksumFor("short  a.zip\n", "a.zip")).toBeUndefined();
  });
});
