import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensureBuilt, projectRoot } from "@troupe/testkit";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Installation } from "../system/installation.js";
import { printLogsOfFailed } from "../system/use-troupe.js";

let here: Installation;
beforeAll(ensureBuilt);
beforeEach(() => {
  here = new Installation();
});
printLogsOfFailed(() => here.logs());
afterEach(() => here.sweep());

/** What it said of itself on stderr; npm adds nothing there when it is told to be silent. */
const complaint = (): string => here.errors.lines.join("\n");
const npmStart = ["npm", "--silent", "start"] as const;

describe("npm start that cannot go on", () => {
  it("names the port that is taken, in one line, and leaves nothing running", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    here.start({ TROUPE_HTTP_PORT: String(port) }, npmStart);
    expect(await here.ended).toMatchObject({ code: 1 });
    expect(complaint()).toMatch(new RegExp(`^troupe: gateway-http: .*port ${port} .*taken.*TROUPE_HTTP_PORT.*$`));
    if (process.platform === "linux") expect([...here.processes().values()]).toEqual([]);
    other.close();
  });

  it("says what to install when there is no NATS server and none can be fetched", async () => {
    const clone = bareClone();
    here.start({ PATH: "", NATS_SERVER_BIN: join(clone, "no-such-server"), NODE_OPTIONS: `--import=${NO_NETWORK}` }, [
      process.execPath,
      join(clone, "deploy/local/dist/troupe.js"),
      "up",
      "--no-chat",
    ]);
    expect(await here.ended).toMatchObject({ code: 1 });
    expect(here.errors.lines).toHaveLength(1);
    expect(complaint()).toMatch(/^troupe: no NATS server: install nats-server 2\.12 or newer/);
    expect(complaint()).toContain("no-such-server");
    rmSync(clone, { recursive: true });
  });

  it("says so when the NATS server that it was given cannot be reached", async () => {
    here.start({ NATS_URL: "nats://127.0.0.1:9" }, npmStart);
    expect(await here.ended).toMatchObject({ code: 1 });
    expect(here.errors.lines).toHaveLength(1);
    expect(complaint()).toMatch(/^troupe: NATS.*127\.0\.0\.1:9/);
  });

  it("names the wrong setting and what it should be", async () => {
    here.start({ TROUPE_HTTP_PORT: "seventy" }, npmStart);
    expect(await here.ended).toMatchObject({ code: 1 });
    expect(here.errors.lines).toHaveLength(1);
    expect(complaint()).toMatch(/^troupe: .*TROUPE_HTTP_PORT.*port number/);
  });
});

/** A machine on which no host answers. */
const NO_NETWORK = `data:text/javascript,${encodeURIComponent(
  'globalThis.fetch = async () => { throw new TypeError("fetch failed", { cause: new Error("no network") }); };',
)}`;

/** A clone that has never fetched a server. */
function bareClone(): string {
  const clone = mkdtempSync(join(tmpdir(), "troupe-clone-"));
  for (const name of ["package.json", "deploy/local/package.json", "deploy/local/dist", "deploy/local/nats-guard.sh"]) {
    mkdirSync(dirname(join(clone, name)), { recursive: true });
    cpSync(join(projectRoot, name), join(clone, name), { recursive: true });
  }
  for (const name of ["node_modules", "services", "libs"]) symlinkSync(join(projectRoot, name), join(clone, name));
  return clone;
}
