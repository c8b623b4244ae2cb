export { type Call, type CallNaming, type InferenceResult, interpret } from "./inference-result.js";
