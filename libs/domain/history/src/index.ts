export { isLongerInJson, jsonLength, MOST_JSON_BYTES } from "./json-length.js";
export { INTERRUPTED, repair } from "./repair.js";
export { messagesBetween, newestMessages, type ReadSegment, type SealedLog } from "./sealed-log.js";
export { summaryEnd } from "./summary-end.js";
export { isJsonObject, problemsOf } from "./validate.js";
export { type ReadRest, wholeMessages, wholeText } from "./whole-text.js";
export { estimateTextTokens, estimateTokens, windowOf } from "./window.js";
