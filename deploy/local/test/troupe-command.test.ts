import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const project = new URL("../", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", project), "utf8")) as { bin: { troupe: string } };
const command = new URL(manifest.bin.troupe, project);

it("is a file before anything is built, because npm links only commands that exist when it installs", () => {
  expect(command.pathname).not.toContain("/dist/");
  expect(readFileSync(command, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
});

it("says how to use it", () => {
  const help = execFileSync(process.execPath, [fileURLToPath(command), "--help"], { encoding: "utf8" });
  for (const name of ["doctor", "dead"]) expect(help).toContain(name);
});
