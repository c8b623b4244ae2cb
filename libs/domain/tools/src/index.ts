export { echo } from "./echo.js";
export { now } from "./now.js";
export { defineTool, type Tool, type ToolResult, type ToolWorld } from "./tool.js";
export { type CheckedCall, Toolbox } from "./toolbox.js";
