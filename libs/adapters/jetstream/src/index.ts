export { type BlobPlace, type BlobStore, blobStore } from "./blob-store.js";
export { type BellOptions, ringBells } from "./bell-source.js";
export { type BellService, watchBells } from "./bell-watch.js";
export type { Bus } from "./bus.js";
export { BusError } from "./bus-error.js";
export { connectBus, type ConnectRequest, type NatsTarget } from "./connection.js";
export { type DeliveryLedger, deliveryLedger, type DeliveryPlace, type StoredDelivery } from "./delivery-ledger.js";
export {
  type DeadLetters,
  deadLetters,
  type LetterPage,
  type LetterQuery,
  type ListedLetter,
  type RetryOutcome,
} from "./dead-letters.js";
export { type BuriedReply, type DeadReplies, deadReplies } from "./dead-replies.js";
export { forget, sweepOrphans } from "./erasure.js";
export { type InboundLedger, inboundLedger, type InboundRecord } from "./inbound-ledger.js";
export { jobSource } from "./job-source.js";
export { changeText, type LimitChange } from "./limit-change.js";
export { type LivePublisher, livePublisher, type LiveSubscriber, liveSubscriber } from "./live.js";
export { mailPort } from "./mail-port.js";
export {
  type MailSender,
  mailSender,
  type NewMail,
  type SentMail,
  TooLarge,
  Unavailable,
} from "./mail-sender.js";
export { type OutboxEvent, type OutboxFeed, outboxFeed } from "./outbox-feed.js";
export { type OutboxBell, type OutboxQueue, outboxQueue, type OutboxQueueOptions } from "./outbox-queue.js";
export { type OwnerDesk, ownerPort } from "./owner-port.js";
export { provision } from "./provisioning.js";
export { type PauseListeners, type ProviderPause, type ProviderPauses, providerPauses } from "./provider-pauses.js";
export { publishPort } from "./publish-port.js";
export { type KeyQuery, type SessionReader, sessionReader } from "./session-reader.js";
export { type SegmentStore, segmentStore } from "./segment-store.js";
export { statePort } from "./state-port.js";
export { type StoreLevel, storeLevels } from "./store-levels.js";
export { type TurnEndings, turnEndings } from "./turn-endings.js";
export { settingOf } from "./store-setting.js";
export { StreamFull } from "./stream-full.js";
