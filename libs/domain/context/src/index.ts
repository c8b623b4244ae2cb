export { type ContextSettings, modelRequest } from "./model-request.js";
export { estimateTokens, windowOf } from "./window.js";
