#!/usr/bin/env node
// The `troupe` command. npm links commands when it installs, before anything is built: so this file is no built one.
import { existsSync } from "node:fs";

const built = new URL("./dist/troupe.js", import.meta.url);
if (existsSync(built)) await import(built.href);
else {
  process.stderr.write("troupe: not built yet: run `npm start` or `npm run build` once\n");
  process.exitCode = 1;
}
