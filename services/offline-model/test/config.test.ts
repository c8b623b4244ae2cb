import { expect, test } from "vitest";
import { readPort } from "../src/config.js";

test.each([
  [[], 0],
  [["--port", "8080"], 8080],
  [["--port=0"], 0],
  [["--port=65535", "--print-config"], 65_535],
  [["--port=65536"], undefined],
  [["--port=-1"], undefined],
  [["--port=1.5"], undefined],
  [["--port=x"], undefined],
  [["--port="], undefined],
  [["--prot=1"], undefined],
  [["8080"], undefined],
])("the port of %j is %s", (args, port) => {
  expect(readPort(args)).toBe(port);
});
