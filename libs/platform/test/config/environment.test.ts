import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { Config, loadConfig } from "../../src/index.js";
import { Scene } from "./scene.js";

const PORT = "expected a port number from 0 to 65535";
const server = { url: "nats://127.0.0.1:4222" };

describe("each variable has an effect", () => {
  it.each([
    {
      name: "LOG_LEVEL",
      value: "debug",
      read: (c: Config) => c.log.level,
      unset: "info",
      set: "debug",
    },
    {
      name: "TROUPE_LOG",
      value: "pretty",
      read: (c: Config) => c.log.pretty,
      unset: false,
      set: true,
    },
    {
      name: "NATS_SERVER_BIN",
      value: "/bin/nats",
      read: (c: Config) => c.natsServerBin,
      unset: undefined,
      set: "/bin/nats",
    },
    {
      name: "TROUPE_HTTP_HOST",
      value: "0.0.0.0",
      read: (c: Config) => c.http.host,
      unset: "127.0.0.1",
      set: "0.0.0.0",
    },
    {
      name: "TROUPE_HTTP_PORT",
      value: "8080",
      read: (c: Config) => c.http.port,
      unset: 7070,
      set: 8080,
    },
    {
      name: "TROUPE_METRICS_HOST",
      value: "::1",
      read: (c: Config) => c.metrics.host,
      unset: "127.0.0.1",
      set: "::1",
    },
    {
      name: "TROUPE_METRICS_PORT",
      value: "0",
      read: (c: Config) => c.metrics.port,
      unset: undefined,
      set: 0,
    },
    {
      name: "TROUPE_MODEL",
      value: "m-1",
      read: (c: Config) => c.models.default,
      unset: "gpt-4.1-mini",
      set: "m-1",
    },
    {
      name: "TROUPE_PARENT_WATCH",
      value: "1",
      read: (c: Config) => c.parentWatch,
      unset: false,
      set: true,
    },
    {
      name: "TROUPE_TOKEN",
      value: "hush",
      read: (c: Config) => c.token,
      unset: undefined,
      set: "hush",
    },
    {
      name: "NATS_URL",
      value: "nats://h:1",
      read: (c: Config) => c.nats.url,
      unset: "nats://127.0.0.1:4222",
      set: "nats://h:1",
    },
    {
      name: "OPENAI_API_KEY",
      value: "sk",
      read: (c: Config) => c.provider.apiKey,
      unset: "file-key",
      set: "sk",
    },
    {
      name: "OPENAI_BASE_URL",
      value: "http://h/v1",
      read: (c: Config) => c.provider.baseUrl,
      unset: undefined,
      set: "http://h/v1",
    },
  ])("$name", ({ name, value, read, unset, set }) => {
    const scene = new Scene().yaml("providers: [{name: p, apiKey: file-key}]");
    scene.file("nats.json", { ...server, user: "u", pass: "p" });
    expect(read(scene.load(Config))).toBe(unset);
    expect(read(scene.set({ [name]: "" }).load(Config))).toBe(unset);
    expect(read(scene.set({ [name]: value }).load(Config))).toBe(set);
  });

  it("TROUPE_DATA, made absolute", () => {
    const data = loadConfig(Config.pick({ dataDir: true }), {
      env: { TROUPE_DATA: "some/where" },
      argv: [],
    });
    expect(data.dataDir).toBe(resolve("some/where"));
  });

  it("TROUPE_CONFIG, whose file must exist", () => {
    const scene = new Scene().set({ TROUPE_CONFIG: "/nowhere/troupe.yaml" });
    expect(scene.problems()).toEqual(["TROUPE_CONFIG: cannot read the file /nowhere/troupe.yaml"]);
    expect(scene.set({ TROUPE_CONFIG: "" }).basics().agent.name).toBe("Troupe");
    expect(scene.yaml("agent: {name: Ada}").basics().agent.name).toBe("Ada");
  });

  it("NATS_CREDS", () => {
    const scene = new Scene();
    const creds = scene.file("user.creds", "creds");
    scene.set({ NATS_URL: "nats://h:1", NATS_CREDS: creds });
    expect(scene.load(Config.pick({ nats: true })).nats).toEqual({ url: "nats://h:1", creds });
  });

  it.each([
    {
      name: "TROUPE_TOKEN",
      picked: Config.pick({ token: true }),
      read: (scene: Scene) => scene.basics().token,
    },
    {
      name: "OPENAI_API_KEY",
      picked: Config.pick({ provider: true }),
      read: (scene: Scene) => scene.load(Config.pick({ provider: true })).provider.apiKey,
    },
  ])("$name, also as a file, but not both at once", ({ name, picked, read }) => {
    const scene = new Scene();
    scene.set({ [`${name}_FILE`]: scene.file("secret", "from-file\n") });
    expect(read(scene)).toBe("from-file");
    expect(scene.set({ [name]: "" }).problems()).toEqual([]);
    expect(scene.set({ [name]: "direct" }).problems(picked)).toEqual([
      `${name}: ${name}_FILE is set too; expected only one of them`,
    ]);
    scene.set({ [name]: "", [`${name}_FILE`]: "/nowhere" });
    expect(scene.problems()).toEqual([`${name}_FILE: cannot read the file /nowhere`]);
    const empty = scene.file("empty", "\n");
    expect(scene.set({ [`${name}_FILE`]: empty }).problems()).toEqual([`${name}_FILE: the file ${empty} is empty`]);
  });
});

describe("wrong variables", () => {
  it.each([
    ["LOG_LEVEL", "INFO", "expected one of: trace, debug, info, warn, error, fatal, silent"],
    ["TROUPE_LOG", "yes", "expected one of: pretty, json"],
    ["TROUPE_PARENT_WATCH", "yes", "expected 0 or 1"],
    ["TROUPE_HTTP_PORT", "-1", PORT],
    ["TROUPE_HTTP_PORT", "65536", PORT],
    ["TROUPE_HTTP_PORT", "0x10", PORT],
    ["TROUPE_HTTP_PORT", "7070 ", PORT],
    ["TROUPE_HTTP_PORT", "1e3", PORT],
    ["TROUPE_HTTP_PORT", "7.5", PORT],
    ["TROUPE_HTTP_PORT", "nan", PORT],
    ["TROUPE_METRICS_PORT", "x", PORT],
    ["TROUPE_TOKEN", "with space", "expected printable ASCII without spaces"],
    ["OPENAI_API_KEY", "schlüssel", "expected printable ASCII without spaces"],
  ])("%s=%s is one problem that names the variable and the form", (name, value, form) => {
    expect(new Scene().set({ [name]: value }).problems()).toEqual([`${name}: ${form}`]);
  });

  it("are all reported at once, with the file's and with what the service is missing", () => {
    const scene = new Scene()
      .yaml("agent: {nmae: x}\nturn: {maxSteps: 0}")
      .set({ TROUPE_HTTP_PORT: "x", LOG_LEVEL: "x", TROUPE_TOKEN: "a", TROUPE_TOKEN_FILE: "b" });
    expect(scene.problems(Config).map((line) => line.replaceAll(scene.folder, "DATA"))).toEqual([
      "TROUPE_TOKEN: TROUPE_TOKEN_FILE is set too; expected only one of them",
      "LOG_LEVEL: expected one of: trace, debug, info, warn, error, fatal, silent",
      "TROUPE_HTTP_PORT: expected a port number from 0 to 65535",
      "troupe.yaml: agent.nmae: unknown field; expected one of: name, language, instructions",
      "troupe.yaml: turn.maxSteps: expected a whole number above 0",
      "NATS_URL: not set, and no local server has left its address in DATA/nats.json: set it, or run npm start",
    ]);
  });

  it("make one line when there is one, a list when there are more", () => {
    const scene = new Scene().set({ LOG_LEVEL: "x" });
    expect(() => scene.basics()).toThrow(/^configuration: LOG_LEVEL: expected one of: [a-z, ]+$/);
    scene.set({ TROUPE_LOG: "x" });
    expect(() => scene.basics()).toThrow(/^configuration: 2 problems\n {2}LOG_LEVEL: .+\n {2}TROUPE_LOG: .+$/);
  });
});

describe("the result", () => {
  it("goes by the environment before the file", () => {
    const scene = new Scene().yaml("http: {host: a, port: 1}\nmodels: {default: file-model}");
    expect(scene.basics()).toMatchObject({
      http: { host: "a", port: 1 },
      models: { default: "file-model" },
    });
    scene.set({ TROUPE_HTTP_HOST: "b", TROUPE_HTTP_PORT: "2", TROUPE_MODEL: "env-model" });
    expect(scene.basics()).toMatchObject({
      http: { host: "b", port: 2 },
      models: { default: "env-model" },
    });
  });

  it("is frozen to the bottom", () => {
    const config = new Scene().yaml("http: {allowedHosts: [a]}").basics();
    expect(() => Object.assign(config, { token: "x" })).toThrow(TypeError);
    expect(() => Object.assign(config.retention.mail, { maxAgeMs: 1 })).toThrow(TypeError);
    expect(() => config.http.allowedHosts.push("b")).toThrow(TypeError);
  });

  it("holds only what the service picks, and asks for nothing else", () => {
    const config = new Scene().load(Config.pick({ turn: true }));
    expect(config).toEqual({
      turn: { maxSteps: 40, deadlineMs: 600_000, maxTokens: 2_500_000, contextTokens: 60_000, noticeMs: 30_000 },
    });
  });

  it("lies in .troupe of the project that the entry script belongs to, also through a link", () => {
    const scene = new Scene();
    scene.file("package.json", { name: "troupe" });
    scene.file("services/x/package.json", { name: "@troupe/x" });
    const entry = scene.file("services/x/dist/main.js", "");
    const load = (script: string) =>
      loadConfig(Config.pick({ dataDir: true }), { env: {}, argv: ["node", script] }).dataDir;
    expect(load(entry)).toBe(join(scene.folder, ".troupe"));
    expect(load("/nowhere/main.js")).toBe(join(process.cwd(), ".troupe"));
  });
});
