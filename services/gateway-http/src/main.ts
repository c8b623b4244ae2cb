import { runService } from "@troupe/platform";
import { GatewayConfig } from "./config.js";
import { wire } from "./wire.js";

await runService({ service: "gateway-http", config: GatewayConfig, wire });
