export { DeadLetter } from "./dead-letter.js";
export { DELIVERY_ACK_WAIT_MS, deliveryConsumer } from "./delivery-consumer.js";
export { deliveryIdOf, DeliveryRecord, DeliveryStatus } from "./delivery.js";
export { decode, type Decoded, describeIssues, encode, Envelope, HEADER, SCHEMA_VERSION } from "./envelope.js";
export { Job, JOB_KINDS, type JobKind, JOBS, JobAttempts } from "./job.js";
export type { JobDelivery, JobPull, JobSource } from "./job-source.js";
export { blobNameOf, blobPieceNames, blobPieces, type NamedPiece, TextRest, wholeCharacter } from "./large-text.js";
export { Delta, LiveEvent, PreviewReset, ToolProgress } from "./live.js";
export {
  ACCEPTED_ORIGINS,
  Cancel,
  Erase,
  MAX_TEXT_LENGTH,
  Reset,
  SessionMail,
  type SessionMailKind,
  UserMessage,
} from "./mail.js";
export type {
  AssembledCall,
  ModelClient,
  ModelFailureCode,
  ModelMessage,
  ModelOutcome,
  ModelRequest,
  ModelUsage,
  ToolCallWire,
  ToolSpec,
} from "./model-call.js";
export { decodeReply, ERROR_CODES, ErrorCode, Final, Notice, OutboxMessage, TurnError } from "./outbox.js";
export { Retention } from "./retention.js";
export {
  type Channel,
  CHANNELS,
  formatSessionId,
  isChannel,
  parseSessionId,
  type SessionId,
  type SessionIdResult,
  type SessionKey,
  sessionOfKey,
} from "./session-id.js";
export {
  ControlOutcome,
  EntryHead,
  LogMessage,
  QueuedMessage,
  RecentTurn,
  Segment,
  segmentKey,
  SegmentRef,
  SESSION_SCHEMA,
  SessionEntry,
  SessionFields,
  ToolCall,
  Turn,
} from "./session-state.js";
export {
  type ActorKind,
  ACTORS,
  auditSubject,
  DEAD_KINDS,
  deadFilter,
  type DeadKind,
  deadSubject,
  endingSubject,
  isWorkSubject,
  type JobAddress,
  jobSubject,
  keyOfSubject,
  liveSubject,
  type MailAddress,
  mailSubject,
  type Origin,
  ORIGINS,
  outboxSubject,
  ownerSubject,
  parseDeadSubject,
  parseJobSubject,
  parseMailSubject,
  taskSubject,
  timerSubject,
} from "./subject.js";
export { decodeToken, encodeToken, MAX_TOKEN_LENGTH, type TokenResult } from "./token.js";
export {
  BELL_ACK_WAIT_MS,
  BLOBS,
  BUCKET,
  JOB_ACK_WAIT_MS,
  SESSION_BELLS,
  SESSION_TIMER_BELLS,
  STREAM,
  topology,
} from "./topology.js";
export type { BucketSpec, ConsumerSpec, ObjectStoreSpec, StreamSpec, Topology } from "./topology-spec.js";
export { digestOf, replyIdOf, turnIdOf } from "./turn-id.js";
