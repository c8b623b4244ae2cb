// The gateway of the played messenger: a whole channel, as its author would write it. `main.ts <url> <resend> [<channel>]`.
import { openBus, runChannel } from "@troupe/channel-kit";
import { isChannel } from "@troupe/contracts";
import { Config, runService } from "@troupe/platform";
import { messengerChannel } from "./messenger-channel.js";

const [url = "", resend, named = ""] = process.argv.slice(2);
const name = isChannel(named) ? named : "webhook";

await runService({
  service: `gateway-${name}`,
  config: Config.pick({ nats: true, retention: true }),
  wire: async (context) => {
    const bus = await openBus(context, `gateway-${name}`);
    const channel = messengerChannel(url, resend === "harmless" ? "harmless" : "unsafe", name);
    await runChannel(context, bus, channel, { limits: { firstPauseMs: 50, longestPauseMs: 200 } });
  },
});
