import { decode, type Final, LiveEvent } from "@troupe/contracts";
import type { FastifyReply } from "fastify";
import type { Gateway } from "../gateway.js";
import { HttpProblem } from "../problem.js";
import { onceFor } from "@troupe/channel-kit";
import { SseResponse } from "../sse-response.js";
import { AnswerPreview, answerText } from "./answer-preview.js";
import { CompletionChunks, type CompletionHead, frame } from "./chat-completion.js";
import { openAiError } from "./openai-error.js";

const decodeLive = onceFor((body: string) => {
  const decoded = decode(LiveEvent, body);
  return decoded.kind === "ok" ? decoded.message : undefined;
}, Object.is);

/**
 * One streamed completion. Its head is written with the first words, the final or a heartbeat, not
 * before: until then a failure is still told by a status instead of by a chunk.
 */
export class CompletionStream {
  readonly #reply: FastifyReply;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #gateway: Pick<Gateway, "metrics">;
  readonly #chunks: CompletionChunks;
  readonly #preview: AnswerPreview;
  readonly #turn: string;
  #out: SseResponse | null = null;
  #accepted = false;
  #flushing: NodeJS.Immediate | undefined;

  constructor(
    gateway: Pick<Gateway, "metrics">,
    reply: FastifyReply,
    head: CompletionHead,
    options: { readonly includeUsage: boolean; readonly headers: Readonly<Record<string, string>> },
  ) {
    this.#gateway = gateway;
    this.#reply = reply;
    this.#headers = options.headers;
    this.#chunks = new CompletionChunks(head, options.includeUsage);
    this.#preview = new AnswerPreview(head.turn);
    this.#turn = head.turn;
  }

  get begun(): boolean {
    return this.#out !== null;
  }

  /** A live event of the conversation; most of them may be of other turns. */
  live(body: string): void {
    if (!body.includes(this.#turn)) return;
    const event = decodeLive(body);
    if (event === undefined) return;
    this.#preview.take(event);
    this.#flush();
  }

  /** The message is in: from now on words may be shown. */
  accepted(): void {
    this.#accepted = true;
    this.#flush();
  }

  heartbeat(): void {
    if (this.#accepted) this.#begin().write(": alive\n\n");
  }

  /** Ends with the rest of the answer, or with an error when it does not continue what was shown. */
  finish(final: Final): void {
    clearImmediate(this.#flushing);
    const rest = this.#preview.rest(answerText(final));
    if (rest === null) {
      const why = "the answer changed after its beginning was streamed; ask again to get it whole";
      this.fail(new HttpProblem(500, "stream_reset", why));
      return;
    }
    const text = rest === "" ? "" : this.#chunks.text(rest);
    this.#begin().end(text + this.#chunks.last());
  }

  /** Ends a stream that has begun with an error chunk. */
  fail(problem: HttpProblem): void {
    clearImmediate(this.#flushing);
    this.#begin().end(frame(openAiError(problem).envelope));
  }

  /** Nothing more is written: the request has ended in another way, or has been answered. */
  stop(): void {
    clearImmediate(this.#flushing);
    this.#accepted = false;
  }

  /** What arrives in one go is written in one go: under load that is one chunk for many deltas. */
  #flush(): void {
    if (!this.#accepted || this.#flushing !== undefined) return;
    this.#flushing = setImmediate(() => {
      this.#flushing = undefined;
      const text = this.#preview.read();
      if (text !== "") this.#begin().write(this.#chunks.text(text));
    });
  }

  #begin(): SseResponse {
    if (this.#out !== null) return this.#out;
    this.#reply.hijack();
    const out = new SseResponse(this.#reply.raw, this.#headers);
    this.#out = out;
    this.#gateway.metrics.openStreams.inc();
    out.onClose(() => this.#gateway.metrics.openStreams.dec());
    out.write(this.#chunks.first());
    return out;
  }
}
