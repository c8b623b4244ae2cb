import type { Answer } from "./answer.js";
import type { CallWatch } from "./call-watch.js";
import { chunkSchema } from "./chunk.js";
import { readEvents } from "./event-reader.js";
import { CutStream, ErrorInAnswer, MalformedBody } from "./failure.js";
import { errorWithin } from "./provider-error.js";

/** After the finish reason only the usage and `[DONE]` are due; an answer does not wait long for them. */
const afterFinishMs = 2_000;

export interface AnswerSource {
  /** The content type in lower case; empty when there is none. */
  readonly type: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Reads a response into `answer`: an event stream, or the whole body that some servers send although a
 * stream was asked for. Resolves once the answer is complete; rejects with what was wrong.
 */
export async function readAnswer({ type, body }: AnswerSource, answer: Answer, watch: CallWatch): Promise<void> {
  if (/^application\/(?:[\w.-]+\+)?json\b/.test(type)) return readWhole(body, answer, watch);
  if (type.startsWith("text/html")) {
    watch.drop();
    throw new MalformedBody("a web page came instead of an answer: is the base URL right?", false);
  }
  let byteCount = 0;
  let eventCount = 0;
  const { done } = await readEvents(body, {
    drop: () => watch.drop(),
    onBytes: (byteLength) => {
      byteCount += byteLength;
      watch.alive();
    },
    onEvent: (data, eventType) => {
      eventCount += 1;
      if (!watch.isLive) return;
      addJson(data, answer, eventType);
      if (answer.isFinished) watch.limit(afterFinishMs);
    },
  });
  if (done || answer.isFinished) return;
  if (eventCount === 0 && byteCount > 0 && !type.startsWith("text/event-stream")) {
    throw new MalformedBody(`neither JSON nor an event stream (content type "${type}")`, false);
  }
  throw new CutStream("the stream ended before the answer did");
}

async function readWhole(body: AsyncIterable<Uint8Array>, answer: Answer, watch: CallWatch): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    watch.alive();
    text += decoder.decode(bytes, { stream: true });
  }
  text += decoder.decode();
  if (!watch.isLive) return;
  const choiceCount = addJson(text, answer);
  if (choiceCount === 0) throw new MalformedBody("the answer holds no choices", true);
}

/** @returns how many choices the JSON held. */
function addJson(text: string, answer: Answer, eventType?: string): number {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new MalformedBody(`no JSON: ${text.slice(0, 120)}`, true);
  }
  const error = errorWithin(value, eventType);
  if (error !== undefined) throw new ErrorInAnswer(error);
  const parsed = chunkSchema.safeParse(value);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join(".") ?? "";
    throw new MalformedBody(`unexpected shape at "${path}": ${text.slice(0, 120)}`, true);
  }
  answer.add(parsed.data);
  return parsed.data.choices?.length ?? 0;
}
