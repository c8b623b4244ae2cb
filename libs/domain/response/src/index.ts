export { type Ending, finalize, type Finalized } from "./finalize.js";
export { introductionOf, type IntroductionSettings } from "./introduction.js";
export { type ProcessResult, processResult } from "./process-result.js";
