import { fileURLToPath } from "node:url";

/** The folder of the clone, two levels above this project, whether this file runs from `src` or from `dist`. */
export const projectRoot = fileURLToPath(new URL("../../../", import.meta.url));
