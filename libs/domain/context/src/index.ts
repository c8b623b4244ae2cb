export {
  type ContextSettings,
  isEnough,
  type LoadedLog,
  modelRequest,
  summaryRequest,
} from "./model-request.js";
