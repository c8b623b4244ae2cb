export { INTERRUPTED, repair } from "./repair.js";
export { summaryRange } from "./summary-range.js";
export { isJsonObject, problemsOf } from "./validate.js";
export { estimateTextTokens, estimateTokens, windowStart } from "./window.js";
