import { runService } from "@troupe/platform";
import { OrchestratorConfig } from "./config.js";
import { wire } from "./wire.js";

await runService({ service: "orchestrator", config: OrchestratorConfig, wire });
