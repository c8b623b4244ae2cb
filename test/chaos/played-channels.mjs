// Two messengers, played, each with the processes of its channel: one that shows a text once however often it is sent
// under an id, and one that shows whatever it is sent. Each message of the schedule says how the messenger takes its reply.
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ServiceProcess } from "@troupe/testkit";
import { tsImport } from "tsx/esm/api";
import { Record } from "./record.mjs";
import { RESENDS } from "./schedule.mjs";

/** A messenger that is slow is slowest with edits, so that a preview would be shown after a reply that did not wait. */
const SLOWNESS = { preview: 3, arrived: 1, shown: 0 };

const main = fileURLToPath(new URL("../channel/main.ts", import.meta.url));

export class PlayedChannels {
  services = [];
  /** `(when, pid)`: a send has arrived, or has been shown; whoever sends it may be struck before it is answered. */
  onSend = () => Promise.resolve();
  #messengers = new Map();
  #screen;
  /** What the schedule drew for a turn's reply: `{ mood, times, slowMs }`. */
  #drawn = new Map();
  /** Sends by reply. */
  #sends = new Map();

  /** @param screen told of all that the messengers do */
  constructor(screen) {
    this.#screen = screen;
  }

  /** @param count processes of each channel */
  async start({ natsUrl, dataFolder }, count) {
    const { Messenger } = await tsImport("../channel/messenger.ts", import.meta.url);
    for (const [channel, resend] of Object.entries(RESENDS)) {
      const messenger = await Messenger.start(resend === "harmless");
      this.#messengers.set(channel, messenger);
      messenger.moodOf = (sent) => this.#moodOf(sent);
      messenger.watch = (deed, sent) => this.#screen.take(`${channel}:${sent.conversation}`, deed, sent);
      messenger.hook = async (when, _text, sent) => {
        const slowMs = (this.#drawn.get(sent.turn)?.slowMs ?? 0) * SLOWNESS[when];
        if (slowMs > 0) await delay(slowMs);
        if (when !== "preview") await this.onSend(when, sent.from);
      };
      for (let n = 0; n < count; n++) {
        this.services.push(
          new ServiceProcess({
            name: `gateway-${channel}-${n}`,
            service: `gateway-${channel}`,
            argv: ["--import", import.meta.resolve("tsx"), main, messenger.url, resend, channel],
            env: {
              PATH: process.env.PATH ?? "",
              NATS_URL: natsUrl,
              TROUPE_DATA: dataFolder,
              TROUPE_METRICS_PORT: "0",
            },
          }),
        );
      }
    }
    await Promise.all(this.services.map((service) => service.start()));
  }

  messengerOf(channel) {
    return this.#messengers.get(channel);
  }

  /** A session's replies are taken as its messages were drawn. */
  expect({ name, messages }) {
    for (const { id, outside } of messages) if (outside) this.#drawn.set(Record.turnOf(name, id), outside);
  }

  forget({ name, channel, messages }) {
    for (const { id } of messages) this.#drawn.delete(Record.turnOf(name, id));
    this.#messengers.get(channel)?.forget(name.slice(channel.length + 1));
  }

  logs() {
    return this.services.flatMap(({ name, output }) => output.lines.map((line) => `${name}: ${line}`)).join("\n");
  }

  async stop() {
    await Promise.all(this.services.map((service) => service.stop()));
    for (const messenger of this.#messengers.values()) await messenger.stop();
  }

  #moodOf({ id, turn }) {
    const { mood, times } = this.#drawn.get(turn) ?? { mood: "well", times: 0 };
    const sends = (this.#sends.get(id) ?? 0) + 1;
    this.#sends.set(id, sends);
    return sends <= times ? mood : "well";
  }
}
