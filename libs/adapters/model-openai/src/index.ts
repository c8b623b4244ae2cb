export { type ModelProbe, type ProbeOptions, probeModel } from "./model-probe.js";
export type { ProviderOptions } from "./openai-client.js";
export { createOpenAiModel, type OpenAiModelOptions } from "./openai-model.js";
