import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cachedServer, findServerBinary, type Obtain } from "../../src/nats-server/find-server.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "troupe-find-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A program that says it is a NATS server of a version. */
function fake(path: string, version: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "nats-server: v${version}"\n`);
  chmodSync(path, 0o755);
  return path;
}

const fails =
  (reason: string): Obtain =>
  async () =>
    reason;

function find(env: NodeJS.ProcessEnv, sources: [string, Obtain][] = []) {
  // The fakes are shell scripts; the folders of real programs must not be searched for real servers.
  return findServerBinary({ root, env, say: () => undefined, sources });
}

describe("findServerBinary", () => {
  it("takes NATS_SERVER_BIN before PATH, PATH before the cache, the cache before fetching", async () => {
    const named = fake(join(root, "named"), "2.12.0");
    const onPath = fake(join(root, "bin/nats-server"), "2.14.3");
    const cached = fake(cachedServer(root), "2.15.1");
    const never: [string, Obtain][] = [["network", () => expect.unreachable("fetched")]];

    const env = { NATS_SERVER_BIN: named, PATH: join(root, "bin") };
    expect(await find(env, never)).toMatchObject({ path: named, version: "2.12.0" });
    expect(await find({ PATH: env.PATH }, never)).toMatchObject({
      path: onPath,
      version: "2.14.3",
    });
    expect(await find({ PATH: "" }, never)).toMatchObject({ path: cached, version: "2.15.1" });
  });

  it("passes over what is too old, broken or no NATS server", async () => {
    const old = fake(join(root, "old"), "2.9.10");
    fake(join(root, "a/nats-server"), "2.11.9");
    mkdirSync(join(root, "b"));
    writeFileSync(join(root, "b/nats-server"), "#!/bin/sh\nexit 3\n", { mode: 0o755 });
    const good = fake(join(root, "c/nats-server"), "2.12.1-RC.2");
    const PATH = ["a", "b", "c"].map((name) => join(root, name)).join(":");
    expect(await find({ NATS_SERVER_BIN: old, PATH })).toMatchObject({ path: good });
  });

  it("fetches from the first source that has one, into the cache", async () => {
    const sources: [string, Obtain][] = [
      ["first", fails("host not found")],
      [
        "second",
        async (target) => {
          fake(target, "2.15.1");
          return undefined;
        },
      ],
    ];
    const found = await find({ PATH: "" }, sources);
    expect(found).toMatchObject({ path: cachedServer(root), origin: "second" });
    expect(await find({ PATH: "" })).toMatchObject({ path: cachedServer(root) });
  });

  it("says in one line what was found where, what is needed and what to do", async () => {
    const old = fake(join(root, "old"), "2.9.10");
    const found = await find({ NATS_SERVER_BIN: old, PATH: "" }, [["release", fails("no answer")]]);
    const reason = found.kind === "none" ? found.reason : "";
    expect(reason).toMatch(/^no NATS server: install nats-server 2\.12 or newer/);
    expect(reason).toContain("NATS_SERVER_BIN: version 2.9.10 found, 2.12 needed");
    expect(reason).toContain("release: no answer");
    expect(reason).not.toContain("\n");
  });

  it("names a NATS_SERVER_BIN that does not exist", async () => {
    const found = await find({ NATS_SERVER_BIN: join(root, "nowhere"), PATH: "" });
    expect(found).toMatchObject({ kind: "none", reason: expect.stringContaining("nowhere") });
  });
});
