import { test } from "vitest";
import { MemoryPorts, PORT_LAWS } from "../src/testing/index.js";

/** One world for all of them, as on a real server. */
const ports = new MemoryPorts();

test.each(PORT_LAWS)("in memory: $title", (law) => law.run(ports));
