export { type CleanText, cleanText } from "./clean-text.js";
export { MAX_GAP } from "./gap.js";
export { MAX_HELD } from "./held-tag.js";
export { type FilteredText, ReasoningFilter } from "./reasoning-filter.js";
export { MAX_TAG } from "./tag-scanner.js";
