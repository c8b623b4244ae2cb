export { freePort } from "./free-port.js";
export { type NatsOptions, type NatsServer, startNats } from "./nats-server.js";
export { natsServerBinary } from "./nats-server-binary.js";
export { type ScriptedModel, startScriptedModel } from "./scripted-model.js";
export type {
  RequestMatch,
  ScriptedBody,
  ScriptedMessage,
  ScriptedRequest,
} from "./scripted-model-request.js";
export type { AnswerOptions, ScriptedCall, ScriptedResponder } from "./scripted-model-responder.js";
export type { ScriptedGate, ScriptedReply } from "./scripted-model-routes.js";
export { type ScriptedStream, type ScriptedUsage, scriptedUsage } from "./scripted-model-stream.js";
export { type ProcessEnd, ServiceProcess, type ServiceSpec } from "./service-process.js";
export { ensureBuilt, projectRoot } from "./service-process-build.js";
export { ProcessOutput } from "./service-process-output.js";
export { answered, runningTurn, sessionEntry, waitingMessage } from "./session-fixture.js";
export { type LogMark, startTroupe, type TroupeOptions, type TroupeSystem } from "./troupe-system.js";
export { type ApiAnswer, type ApiRequest, askApi } from "./troupe-system-api.js";
