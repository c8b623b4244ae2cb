import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { ChatRequest } from "./chat-request.js";
import { type AnswerScript, completionChunks, textPieces, usageChunk } from "./completion.js";

/**
 * Streams an answer at its pace.
 * @param hurry when it aborts, what is left is sent at once: a drain need not sit through a story.
 */
export async function streamAnswer(
  response: ServerResponse,
  {
    request,
    script,
    hurry,
  }: { readonly request: ChatRequest; readonly script: AnswerScript; readonly hurry: AbortSignal },
): Promise<void> {
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  });
  const left = new AbortController();
  response.once("close", () => left.abort());
  const signal = AbortSignal.any([left.signal, hurry]);
  const isPaced = script.kind === "text" && script.spreadMs > 0;
  const waitMs = isPaced ? script.spreadMs / textPieces(script).length : 0;
  for (const chunk of completionChunks(request, script)) {
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    if (waitMs > 0 && !signal.aborted) await delay(waitMs, undefined, { signal }).catch(() => {});
    if (left.signal.aborted) return;
  }
  if (request.wantsUsage) response.write(`data: ${JSON.stringify(usageChunk(request, script))}\n\n`);
  response.end("data: [DONE]\n\n");
}
