export { type Ending, finalize, type Finalized } from "./finalize.js";
