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
