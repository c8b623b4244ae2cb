// The gateway of the played messenger: a whole channel, as its author would write it. `main.ts <url> <resend>`.
import { openBus, runChannel } from "@troupe/channel-kit";
import { Config, runService } from "@troupe/platform";
import { messengerChannel } from "./messenger-channel.js";

const [url = "", resend] = process.argv.slice(2);

await runService({
  service: "gateway-webhook",
  config: Config.pick({ nats: true, retention: true }),
  wire: async (context) => {
    const bus = await openBus(context, "gateway-webhook");
    const channel = messengerChannel(url, resend === "harmless" ? "harmless" : "unsafe");
    await runChannel(context, bus, channel, { limits: { firstPauseMs: 50, longestPauseMs: 200 } });
  },
});
