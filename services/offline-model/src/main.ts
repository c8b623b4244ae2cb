import { runService } from "@troupe/platform";
import { OfflineModelConfig, readPort, usage } from "./config.js";
import { wire } from "./wire.js";

const port = readPort(process.argv.slice(2));
if (port === undefined) {
  process.stderr.write(`${usage}\n`);
  process.exit(2);
}
await runService({
  service: "offline-model",
  config: OfflineModelConfig,
  wire: (context) => wire(context, port),
});
