import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Config, ConfigError } from "../../src/index.js";
import { Scene } from "./scene.js";

it("has working defaults, without a file and with an empty one", () => {
  const bare = new Scene().basics();
  expect(bare.agent).toMatchObject({
    name: "Troupe",
    language: "en",
    instructions: expect.stringMatching(/\w{3}/),
  });
  expect(bare.turn).toEqual({
    maxSteps: 40,
    deadlineMs: 600_000,
    maxTokens: 2_500_000,
    contextTokens: 60_000,
    noticeMs: 30_000,
  });
  expect(bare.http).toEqual({
    host: "127.0.0.1",
    port: 7070,
    allowedHosts: [],
    allowedOrigins: [],
  });
  const { dataDir: _, ...empty } = new Scene().yaml("# nothing\n").basics();
  expect(bare).toMatchObject(empty);
});

it("takes every section", () => {
  const config = new Scene()
    .yaml(`
agent: {name: Ada, language: zh-CN, instructions: Be kind.}
models: {default: m-1}
providers: [{name: near, baseUrl: "http://near/v1", apiKey: k}]
turn: {maxSteps: 1, deadlineMs: 2, maxTokens: 3}
http: {host: 0.0.0.0, port: 1, allowedHosts: ["chat.example.org", "h:80"], allowedOrigins: ["https://example.org"]}
retention: {mail: {maxAgeMs: 3600000}}
`)
    .load(Config.omit({ nats: true }));
  expect(config).toMatchObject({
    agent: { name: "Ada", language: "zh-CN", instructions: "Be kind." },
    models: { default: "m-1" },
    provider: { name: "near", baseUrl: "http://near/v1", apiKey: "k" },
    turn: { maxSteps: 1, deadlineMs: 2, maxTokens: 3 },
    http: { host: "0.0.0.0", port: 1, allowedHosts: ["chat.example.org", "h:80"] },
    retention: { mail: { maxAgeMs: 3_600_000 } },
  });
});

describe("wrong fields", () => {
  it.each([
    [
      "agnet: {}",
      "agnet: unknown field; expected one of: agent, models, providers, turn, introduction, channels, http, retention",
    ],
    ["agent: {nmae: x}", "agent.nmae: unknown field; expected one of: name, language, instructions"],
    ["retention: {mail: {age: 1}}", "retention.mail.age: unknown field; expected one of: maxAgeMs, maxBytes"],
    [
      "providers: [{name: p, key: x}]",
      "providers[0].key: unknown field; expected one of: name, baseUrl, apiKey, apiKeyFile, apiKeyEnv",
    ],
    ["agent: {name: ''}", "agent.name: expected a text that is not empty"],
    ["agent: {name: 5}", "agent.name: expected string, received number"],
    ["agent: {language: not a tag}", "agent.language: expected a language tag such as en or zh-CN"],
    ["turn: {maxSteps: 1.5}", "turn.maxSteps: expected a whole number above 0"],
    ["turn: {deadlineMs: -1}", "turn.deadlineMs: expected a whole number above 0"],
    ["http: {port: 65536}", "http.port: expected a port number from 0 to 65535"],
    [
      "http: {allowedOrigins: ['example.org']}",
      "http.allowedOrigins[0]: expected an origin such as https://example.org",
    ],
    ["http: {allowedHosts: ['http://h']}", "http.allowedHosts[0]: expected a host name, with or without a port"],
    ["providers: [{name: p, baseUrl: x}]", "providers[0].baseUrl: expected a URL that begins with http:// or https://"],
    [
      "providers: [{name: p, apiKey: a, apiKeyEnv: B}]",
      "providers[0]: expected at most one of apiKey, apiKeyFile and apiKeyEnv",
    ],
    ["providers: [{name: p}, {name: p}]", "providers: expected names that differ"],
    ["[]", "expected object, received array"],
  ])("%s", (yaml, problem) => {
    expect(new Scene().yaml(yaml).problems()).toEqual([`troupe.yaml: ${problem}`]);
  });

  it.each([
    ["agent: {name: x", /^troupe\.yaml:1:\d+: not valid YAML \(.+\)$/],
    ["a: 1\na: 2", /^troupe\.yaml:2:1: not valid YAML \(duplicate key\)$/],
    ["agent: *nobody", /^troupe\.yaml.*: not valid YAML \(.+\)$/],
    ["agent: !strange x", /^troupe\.yaml:1:8: not valid YAML \(.+\)$/],
  ])("%s is no YAML, and the place is named", (yaml, problem) => {
    expect(new Scene().yaml(yaml).problems()[0]).toMatch(problem);
  });
});

it("never repeats a value, whatever is wrong", () => {
  const marker = "hunter2";
  const variables = [
    "LOG_LEVEL NATS_URL NATS_CREDS OPENAI_API_KEY OPENAI_BASE_URL TROUPE_HTTP_PORT TROUPE_LOG",
    "TROUPE_METRICS_PORT TROUPE_PARENT_WATCH TROUPE_TOKEN",
  ].flatMap((names) => names.split(" "));
  const wrong = fc.constantFrom(`${marker} ü`, `"${marker}`, `nats://u:${marker}@`, `http://${marker}:x`);
  const yaml = fc.constantFrom(
    `providers: [{name: p, apiKey: [${marker}]}]`,
    `providers: [{name: p, apiKey: ${marker}, apiKeyEnv: ${marker}}]`,
    `providers: {apiKey: "${marker}}`,
    `providers:\n - name: p\n   apiKey: ${marker}: x`,
    `apiKey ${marker}\nfoo: bar`,
    `agent: *${marker}`,
    `agent: !${marker} x`,
    `agent: {language: ${marker} x}`,
    `http: {allowedOrigins: [${marker}], port: ${marker}}`,
  );
  fc.assert(
    fc.property(fc.subarray(variables, { minLength: 1 }), wrong, yaml, (names, value, text) => {
      const scene = new Scene().yaml(text).set(Object.fromEntries(names.map((name) => [name, value])));
      // A path is not a secret; the marker in one would be.
      delete scene.env.NATS_CREDS;
      let thrown: unknown;
      try {
        scene.load(Config);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(ConfigError);
      expect(String(thrown)).not.toContain(marker);
      expect(JSON.stringify(thrown)).not.toContain(marker);
    }),
    { numRuns: 60 },
  );
});
