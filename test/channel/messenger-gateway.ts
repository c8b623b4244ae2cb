import { fileURLToPath } from "node:url";
import type { Channel } from "@troupe/channel-kit";
import { ServiceProcess, type TroupeSystem } from "@troupe/testkit";
import { startWireTap, type WireTap } from "../system/wire-tap.js";
import type { Messenger } from "./messenger.js";

/** A process of the played messenger's channel, behind a relay that sees what it tells the NATS server. */
export interface MessengerGateway {
  readonly service: ServiceProcess;
  readonly tap: WireTap;
  stop(): Promise<void>;
}

let count = 0;

/** Started and ready. */
export async function startGateway(
  system: TroupeSystem,
  messenger: Messenger,
  resend: Channel["resend"],
): Promise<MessengerGateway> {
  const tap = await startWireTap(system.natsUrl);
  count += 1;
  const entry = fileURLToPath(new URL("main.ts", import.meta.url));
  const service = new ServiceProcess({
    name: `gateway-webhook-${count}`,
    service: "gateway-webhook",
    argv: ["--conditions=troupe-source", "--import", "tsx", entry, messenger.url, resend],
    env: {
      PATH: process.env.PATH ?? "",
      NATS_URL: tap.url,
      TROUPE_DATA: system.dataFolder,
      TROUPE_METRICS_PORT: "0",
    },
  });
  await service.start();
  return {
    service,
    tap,
    stop: async () => {
      await service.stop();
      await tap.close();
    },
  };
}
