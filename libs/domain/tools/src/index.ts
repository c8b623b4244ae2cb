export { echo } from "./echo.js";
export { type Excerpt, excerptOf } from "./excerpt.js";
export { now } from "./now.js";
export { readBlob } from "./read-blob.js";
export { type CancelSignal, defineTool, type Tool, type ToolResult, type ToolWorld } from "./tool.js";
export { MAX_RESULT_LENGTH, shortened } from "./tool-result.js";
export { type CheckedCall, Toolbox } from "./toolbox.js";
