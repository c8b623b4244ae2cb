import type { SessionKey } from "@troupe/contracts";
import type {
  BlobStore,
  DeadLetters,
  LiveSubscriber,
  MailSender,
  OutboxEvent,
  OutboxFeed,
  SegmentStore,
  SessionReader,
} from "@troupe/jetstream";
import type { MailPort } from "@troupe/kernel";
import type { Logger } from "@troupe/platform";
import type { GatewayMetrics } from "./gateway-metrics.js";
import type { LongRequests } from "./long-requests.js";
import type { Admission, MessageInbox, UnreadReplies } from "@troupe/channel-kit";

/** What the routes work with. */
export interface Gateway {
  readonly log: Logger;
  readonly metrics: GatewayMetrics;
  readonly sessions: SessionReader;
  /** Sealed pieces of long histories. */
  readonly segments: SegmentStore;
  /** The rests of large texts. */
  readonly blobs: BlobStore;
  readonly mail: MailSender;
  /** MAIL, to look into: nothing is taken from it here. */
  readonly mailbox: MailPort;
  readonly outbox: OutboxFeed;
  readonly live: LiveSubscriber;
  readonly unread: UnreadReplies;
  /** Looks after an event that cannot be read. */
  readonly onUnread: (event: OutboxEvent) => void;
  readonly inbox: MessageInbox;
  /** Whether new messages are taken in. */
  readonly admission: Admission;
  /** What was given up on. */
  readonly dead: DeadLetters;
  /** Removes what an erased session has left outside of its state; whether there was anything. */
  readonly forget: (key: SessionKey) => Promise<boolean>;
  readonly long: LongRequests;
  /** Whether NATS can be reached right now. */
  readonly connected: () => boolean;
}
