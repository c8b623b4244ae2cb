export { type Call, type CallNaming, judge, type Verdict } from "./verdict.js";
