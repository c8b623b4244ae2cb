export { DeadLetter } from "./dead-letter.js";
export { decode, type Decoded, describeIssues, encode, Envelope, HEADER, SCHEMA_VERSION } from "./envelope.js";
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
export { ERROR_CODES, ErrorCode, Final, Notice, OutboxMessage, TurnError } from "./outbox.js";
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
  deadSubject,
  jobSubject,
  keyOfSubject,
  liveSubject,
  type MailAddress,
  mailSubject,
  type Origin,
  ORIGINS,
  outboxSubject,
  ownerSubject,
  parseMailSubject,
  taskSubject,
  timerSubject,
} from "./subject.js";
export { decodeToken, encodeToken, MAX_TOKEN_LENGTH, type TokenResult } from "./token.js";
export {
  BELL_ACK_WAIT_MS,
  BLOBS,
  BUCKET,
  type BucketSpec,
  type ConsumerSpec,
  type ObjectStoreSpec,
  SESSION_BELLS,
  SESSION_TIMER_BELLS,
  STREAM,
  type StreamSpec,
  type Topology,
  topology,
} from "./topology.js";
export { digestOf, replyIdOf, turnIdOf } from "./turn-id.js";
