import {
  blobStore,
  type Bus,
  deadReplies,
  deliveryLedger,
  inboundLedger,
  liveSubscriber,
  mailSender,
  type OutboxFeed,
  outboxFeed,
  outboxQueue,
  segmentStore,
  sessionReader,
  storeLevels,
  StreamFull,
  turnEndings,
} from "@troupe/jetstream";
import { FullStores, type ServiceContext } from "@troupe/platform";
import type { Channel } from "./channel.js";
import { checkChannel } from "./channel-check.js";
import { PreviewDesk } from "./events/preview-desk.js";
import { Admission } from "./inbound/admission.js";
import { channelIntake } from "./inbound/intake.js";
import { tellingFull } from "./inbound/full-mail.js";
import { MessageInbox } from "./inbound/message-inbox.js";
import { systemClock } from "./outbound/delivery-clock.js";
import { DEFAULT_LIMITS, DeliveryDesk, type DeliveryLimits, type DeskPorts } from "./outbound/delivery-desk.js";
import { deliveryReport } from "./outbound/delivery-report.js";
import { UnreadReplies } from "./outbound/unread-replies.js";

export interface ChannelOptions {
  readonly limits?: Partial<DeliveryLimits>;
}

/**
 * Runs a channel on a bus that is open: what it hears comes in once, its sessions' replies go out in order and once,
 * as far as the channel can be told so. Parts are closed in reverse: first nothing new is heard, then what is being
 * sent ends and is recorded.
 *
 * @throws StartError for a channel that cannot work, such as one of an unknown name
 */
export async function runChannel(
  context: Pick<ServiceContext<unknown>, "log" | "metrics" | "health" | "open" | "fail">,
  bus: Bus,
  channel: Channel,
  options: ChannelOptions = {},
): Promise<void> {
  checkChannel(channel);
  const { log, open } = context;
  const stores = new FullStores(context);
  const outbox = outboxFeed(bus, { channel: channel.name });
  await open(
    "outbox feed",
    () => outbox.start(),
    (feed) => feed.stop(),
  );
  const previews = await open(
    "previews",
    () => new PreviewDesk({ outbox, live: liveSubscriber(bus), endings: turnEndings(bus) }, channel, systemClock),
    (desk) => desk.stop(),
  );
  const admission = await open(
    "room for messages",
    async () => {
      const opened = new Admission({ levels: (buckets) => storeLevels(bus, buckets), stores });
      await opened.start();
      return opened;
    },
    (opened) => opened.stop(),
  );
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  await open(
    "deliveries",
    () => openDeliveries(context, bus, { channel, outbox, previews, stores, limits }),
    (deliveries) => deliveries.stop(),
  );
  await open(
    `channel ${channel.name}`,
    () => listen(context, bus, { channel, outbox, previews, stores, admission }),
    (listening) => listening.stop(),
  );
  log.info({ channel: channel.name }, "channel open");
}

interface Parts {
  readonly channel: Channel;
  readonly outbox: OutboxFeed;
  readonly previews: PreviewDesk;
  readonly stores: FullStores;
}

async function openDeliveries(
  { log, metrics }: Pick<ServiceContext<unknown>, "log" | "metrics">,
  bus: Bus,
  { channel, outbox, previews, stores, limits }: Parts & Pick<DeskPorts, "limits">,
): Promise<{ stop(): Promise<void> }> {
  const report = deliveryReport(log, metrics, channel.name);
  const onTrouble = (line: string): void => log.warn(line);
  const desk = new DeliveryDesk({
    channel,
    ledger: deliveryLedger(bus),
    clock: systemClock,
    replay: (key, after) => outbox.replay(key, after),
    whole: (event) => outbox.whole(event),
    exists: (seq) => outbox.exists(seq),
    beforeSend: async (key, turn) => {
      if (turn !== null) await previews.endAnywhere(key, turn);
    },
    unread: new UnreadReplies(deadReplies(bus), { log, metrics }),
    onEnd: report,
    onTrouble: (line, cause) => {
      if (!(cause instanceof StreamFull)) return onTrouble(line);
      stores.refused(cause.store, `${cause.message}; replies wait until there is room`);
    },
    limits,
  });
  const queue = outboxQueue(bus, {
    channel: channel.name,
    onBell: (bell) => desk.ring(bell),
    onLost: () => desk.lapse(),
    onTrouble,
  });
  desk.queue = queue;
  const stop = async (): Promise<void> => {
    queue.stop();
    await desk.stop();
    queue.release();
  };
  try {
    await queue.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

async function listen(
  { log, fail }: Pick<ServiceContext<unknown>, "log" | "fail">,
  bus: Bus,
  { channel, outbox, previews, stores, admission }: Parts & { readonly admission: Admission },
): Promise<{ stop(): Promise<void> }> {
  const mail = tellingFull(mailSender(bus), stores);
  const texts = { segments: segmentStore(bus), blobs: blobStore(bus) };
  const ports = { mail, ledger: inboundLedger(bus), sessions: sessionReader(bus), outbox, ...texts };
  const intake = channelIntake({
    channel: channel.name,
    inbox: new MessageInbox({ ...ports, admission, log }),
    mail,
    onExpected: (key, turn) => previews.expect(key, turn),
  });
  const stopping = new AbortController();
  const listening = channel.listen(intake, stopping.signal).then(
    () => {
      if (!stopping.signal.aborted) fail(new Error(`channel ${channel.name} has stopped listening`));
    },
    (error: unknown) => {
      if (!stopping.signal.aborted) fail(error);
    },
  );
  return {
    stop: async () => {
      stopping.abort();
      await listening;
    },
  };
}
