export { type ContextSettings, modelRequest, summaryRequest } from "./model-request.js";
