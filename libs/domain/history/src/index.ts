export { INTERRUPTED, repair } from "./repair.js";
export { messagesBetween, newestMessages, type ReadSegment, type SealedLog } from "./sealed-log.js";
export { summaryEnd } from "./summary-end.js";
export { isJsonObject, problemsOf } from "./validate.js";
export { estimateTokens, windowOf } from "./window.js";
