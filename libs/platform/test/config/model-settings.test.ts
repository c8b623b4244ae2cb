import { expect, it } from "vitest";
import { Config } from "../../src/index.js";
import { Scene } from "./scene.js";

const Picked = Config.pick({ provider: true, models: true });
const load = (scene: Scene) => {
  const { provider, models } = scene.load(Picked);
  return { ...provider, model: models.default };
};

it("uses the official server with a key alone", () => {
  const scene = new Scene().set({ OPENAI_API_KEY: "sk" });
  expect(load(scene)).toEqual({ name: "openai", apiKey: "sk", model: "gpt-4.1-mini" });
});

it("needs no key for a server of one's own", () => {
  const scene = new Scene().set({
    OPENAI_BASE_URL: "http://127.0.0.1:11434/v1",
    TROUPE_MODEL: "qwen3:8b",
  });
  const { apiKey, ...rest } = load(scene);
  expect(apiKey).not.toBe("");
  expect(rest).toEqual({ name: "openai", baseUrl: "http://127.0.0.1:11434/v1", model: "qwen3:8b" });
});

it("takes the first provider of the file, or the one that the model's name begins with", () => {
  const scene = new Scene().yaml(`
providers:
  - {name: near, baseUrl: http://near/v1}
  - {name: far, baseUrl: https://far/v1, apiKey: k}
`);
  expect(load(scene)).toMatchObject({
    name: "near",
    baseUrl: "http://near/v1",
    model: "gpt-4.1-mini",
  });
  scene.set({ TROUPE_MODEL: "far/vendor/m-1" });
  expect(load(scene)).toEqual({
    name: "far",
    baseUrl: "https://far/v1",
    apiKey: "k",
    model: "vendor/m-1",
  });
  scene.set({ OPENAI_API_KEY: "sk" });
  expect(load(scene)).toEqual({ name: "openai", apiKey: "sk", model: "far/vendor/m-1" });
});

it("reads a provider's key from a file beside the configuration or from a variable", () => {
  const scene = new Scene();
  scene.file("keys/near", "from-file\n");
  scene.yaml("providers: [{name: near, apiKeyFile: keys/near}]");
  expect(load(scene).apiKey).toBe("from-file");
  scene.yaml("providers: [{name: near, apiKeyEnv: NEAR_KEY}]").set({ NEAR_KEY: "from-variable" });
  expect(load(scene).apiKey).toBe("from-variable");
});

it("sends OPENAI_API_KEY to the provider that asks for it, not to the official server", () => {
  const scene = new Scene().set({ OPENAI_API_KEY: "sk" });
  scene.yaml("providers: [{name: far, baseUrl: https://far/v1, apiKeyEnv: OPENAI_API_KEY}]");
  expect(load(scene)).toMatchObject({ name: "far", baseUrl: "https://far/v1", apiKey: "sk" });
});

it("reports every key that cannot be had, also of a provider that is not in use", () => {
  const scene = new Scene().yaml(`
providers:
  - {name: near, apiKeyFile: missing}
  - {name: far, apiKeyEnv: FAR_KEY}
`);
  expect(scene.problems(Picked)).toEqual([
    `troupe.yaml: providers[0].apiKeyFile: cannot read the file ${scene.folder}/missing`,
    "troupe.yaml: providers[1].apiKeyEnv: the variable FAR_KEY is not set",
  ]);
});

it("falls back to the offline model when it runs, and says what to set when it does not", () => {
  const scene = new Scene();
  expect(scene.problems(Picked)).toEqual([
    "OPENAI_API_KEY: no model server is configured: set it, or OPENAI_BASE_URL, or run npm start",
  ]);
  const path = scene.file("offline-model.json", { url: "http://127.0.0.1:5000/v1" });
  expect(load(scene)).toMatchObject({
    name: "offline",
    baseUrl: "http://127.0.0.1:5000/v1",
    model: "offline",
  });
  scene.set({ TROUPE_MODEL: "other" });
  expect(load(scene)).toMatchObject({ name: "offline", model: "other" });
  scene.set({ OPENAI_API_KEY: "sk", TROUPE_MODEL: "" });
  expect(load(scene)).toMatchObject({ name: "openai", model: "gpt-4.1-mini" });
  scene.set({ OPENAI_API_KEY: "" }).file("offline-model.json", "[]");
  expect(scene.problems(Picked)).toEqual([`${path}: expected {"url"}; remove it and run npm start`]);
});

it("refuses a base URL that is none", () => {
  expect(new Scene().set({ OPENAI_BASE_URL: "localhost:11434" }).problems(Picked)).toEqual([
    "OPENAI_BASE_URL: expected a URL that begins with http:// or https://",
  ]);
});

const All = Config.pick({ models: true, provider: true, providers: true });
const TWO = `
providers:
  - {name: near, baseUrl: http://near/v1}
  - {name: far, baseUrl: https://far/v1, apiKey: k}
`;

it("resolves every model's server: by the name it begins with, else the first", () => {
  const scene = new Scene().yaml(
    `${TWO}models: {default: far/big, fallback: [small, far/vendor/m, gone/m], consolidation: far/cheap}`,
  );
  const { models, provider, providers } = scene.load(All);
  expect(models).toEqual({
    default: "big",
    fallback: [
      { provider: "near", model: "small" },
      { provider: "far", model: "vendor/m" },
      { provider: "near", model: "gone/m" },
    ],
    consolidation: { provider: "far", model: "cheap" },
  });
  expect(provider.name).toBe("far");
  expect(providers).toEqual([
    { name: "near", baseUrl: "http://near/v1", apiKey: expect.any(String) },
    { name: "far", baseUrl: "https://far/v1", apiKey: "k" },
  ]);
});

it("puts the server of the variables first and keeps the file's for the fallback", () => {
  const scene = new Scene().yaml(`${TWO}models: {fallback: [far/m, vendor/n]}`).set({ OPENAI_API_KEY: "sk" });
  const { models, providers } = scene.load(All);
  expect(models.fallback).toEqual([
    { provider: "far", model: "m" },
    { provider: "openai", model: "vendor/n" },
  ]);
  expect(providers.map(({ name }) => name)).toEqual(["openai", "near", "far"]);
});

it("lets the variables stand for the file's provider of the same name", () => {
  const scene = new Scene().yaml("providers: [{name: openai, baseUrl: http://old/v1, apiKey: old}]");
  scene.set({ OPENAI_BASE_URL: "http://new/v1", OPENAI_API_KEY: "new" });
  expect(scene.load(All).providers).toEqual([{ name: "openai", baseUrl: "http://new/v1", apiKey: "new" }]);
});

it("wants the key of a file's provider beside the variables only when a model needs it", () => {
  const providers = "providers: [{name: far, baseUrl: https://far/v1, apiKeyEnv: FAR_KEY}]\n";
  const scene = new Scene().yaml(providers).set({ OPENAI_API_KEY: "sk" });
  expect(scene.load(All).providers.map(({ name }) => name)).toEqual(["openai"]);
  scene.yaml(`${providers}models: {fallback: [far/m]}`);
  expect(scene.problems(All)).toEqual(["troupe.yaml: providers[0].apiKeyEnv: the variable FAR_KEY is not set"]);
});

it("has no fallback and no model of its own for summaries unless it is told so", () => {
  const scene = new Scene().set({ OPENAI_API_KEY: "sk" });
  expect(scene.load(All).models).toEqual({ default: "gpt-4.1-mini", fallback: [] });
  scene.yaml("models: {fallbacks: [m]}");
  expect(scene.problems(All)[0]).toContain("models.fallbacks: unknown field; expected one of: default, fallback");
});
