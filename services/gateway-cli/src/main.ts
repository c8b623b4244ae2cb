#!/usr/bin/env node
import { runCli } from "./cli.js";

// A reader that has seen enough (`… | head`) is no failure.
process.stdout.on("error", () => process.exit(0));

process.exitCode = await runCli(process.argv.slice(2), process);
