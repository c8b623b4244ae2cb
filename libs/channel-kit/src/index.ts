export type {
  Channel,
  Conversation,
  HeardMessage,
  Intake,
  PreviewText,
  Reply,
  SendOutcome,
  Taken,
} from "./channel.js";
export { type ConversationEvent, durableEvent, liveEvent, onceFor } from "./events/conversation-event.js";
export { EventSequence } from "./events/event-sequence.js";
export {
  type EventSources,
  type Following,
  followConversation,
  type FollowOptions,
} from "./events/follow-conversation.js";
export { Preview, type PreviewDelta } from "./events/preview.js";
export { Admission, type AdmissionPorts } from "./inbound/admission.js";
export {
  type FinalInState,
  finalInState,
  finalOfTurn,
  type FinalSources,
  lookUpFinal,
} from "./inbound/final-lookup.js";
export { tellingFull } from "./inbound/full-mail.js";
export { channelIntake, type IntakePorts } from "./inbound/intake.js";
export { IntakePause } from "./inbound/intake-pause.js";
export { IntakeRefusal } from "./inbound/intake-refusal.js";
export { type AcceptedMessage, contentDigest, type IncomingMessage, MessageInbox } from "./inbound/message-inbox.js";
export { readEntry, type ReadEntry } from "./inbound/read-entry.js";
export { type BusConfig, openBus } from "@troupe/service-bus";
export { type AttemptEnd, Delivery, type DeliveryPorts, type OutgoingReply } from "./outbound/delivery.js";
export { type DeliveryClock, systemClock } from "./outbound/delivery-clock.js";
export { DEFAULT_LIMITS, DeliveryDesk, type DeliveryLimits, type DeskPorts } from "./outbound/delivery-desk.js";
export type { Settlement } from "./outbound/delivery-rules.js";
export { replyOf } from "./outbound/reply.js";
export { type UnreadReply, UnreadReplies } from "./outbound/unread-replies.js";
export { type ChannelOptions, runChannel } from "./run-channel.js";
