/** `npm start`: sets the clone up and goes on in this same process with the supervisor, the root of all services. */
import { build, checkNode, installDependencies, SetUpFailure } from "./setup.mjs";

try {
  checkNode();
  await installDependencies();
  await build();
} catch (error) {
  if (!(error instanceof SetUpFailure)) throw error;
  process.stderr.write(`troupe: ${error.message}\n`);
  process.exit(1);
}

const { up } = await import("./dist/up.js");
// Not merely the exit code: a download that was given up may still hold the process.
process.exit(await up({ fsync: process.argv.includes("--fsync") }));
