import type { ModelClient, ModelOutcome, ModelRequest } from "@troupe/contracts";
import type { OpenAI } from "openai";
import { Answer } from "./answer.js";
import { readAnswer } from "./answer-reader.js";
import { type CallEnd, type CallWatch, watchCall } from "./call-watch.js";
import { classify, type Failure } from "./failure.js";
import { detailWriter } from "./failure-detail.js";
import { type Client, createClient, openAiBaseUrl, type ProviderOptions } from "./openai-client.js";
import { RequestForms, wireRequest } from "./request-form.js";

export interface OpenAiModelOptions extends ProviderOptions {
  /** Silence in milliseconds, from the request or the last byte on, after which a call counts as stalled; 60,000. */
  readonly stallMs?: number;
}

/**
 * A model behind an OpenAI-compatible API. Calls are streamed and never retried: whether, when and
 * on which model to try again is decided by the caller. A request is sent anew only in another form,
 * when the provider does not know one of its optional fields; that is remembered.
 */
export function createOpenAiModel(options: OpenAiModelOptions): ModelClient {
  return new OpenAiModel(options);
}

class OpenAiModel implements ModelClient {
  readonly #client: Client;
  readonly #forms = new RequestForms();
  readonly #stallMs: number;
  readonly #where: string;
  readonly #clean: (detail: string) => string;

  constructor(options: OpenAiModelOptions) {
    this.#client = createClient(options);
    this.#stallMs = options.stallMs ?? 60_000;
    this.#where = options.baseUrl ?? openAiBaseUrl;
    this.#clean = detailWriter(options.apiKey.trim());
  }

  async complete(
    request: ModelRequest,
    { signal, onText }: { readonly signal: AbortSignal; readonly onText: (text: string) => void },
  ): Promise<ModelOutcome> {
    if (signal.aborted) return { kind: "aborted" };
    const watch = watchCall(signal, this.#stallMs);
    const answer = new Answer((text) => preview(onText, text));
    try {
      const ended = watch.ended.then((end) => this.#afterEnd(end, answer, request));
      return await Promise.race([ended, this.#attempt(request, answer, watch)]);
    } finally {
      watch.release();
    }
  }

  /** Never rejects, so that nothing is left to complain when the race is lost. */
  async #attempt(request: ModelRequest, answer: Answer, watch: CallWatch): Promise<ModelOutcome> {
    let form = this.#forms.for(request.model);
    for (;;) {
      let hasHead = false;
      try {
        const response = await post(this.#client.api, wireRequest(request, form), watch.signal);
        hasHead = true;
        watch.alive();
        const type = response.headers.get("content-type")?.toLowerCase() ?? "";
        await readAnswer({ type, body: this.#client.bodyOf(response) }, answer, watch);
        // Ended within the last bytes: what came after that point was not taken in.
        if (watch.end !== undefined) return this.#afterEnd(watch.end, answer, request);
        return answer.outcome(request.model);
      } catch (error) {
        if (watch.end !== undefined) return this.#afterEnd(watch.end, answer, request);
        const next = this.#forms.learn(form, request, error);
        if (next === undefined) return this.#afterError(classify(error, hasHead), answer, request);
        form = next;
        watch.alive();
      }
    }
  }

  #afterEnd(end: CallEnd, answer: Answer, request: ModelRequest): ModelOutcome {
    if (end === "aborted") return { kind: "aborted" };
    const detail = `nothing came for ${this.#stallMs} ms`;
    return this.#afterError({ code: "stalled", retryable: true, detail }, answer, request);
  }

  #afterError(failure: Failure, answer: Answer, request: ModelRequest): ModelOutcome {
    // With the finish reason the answer was whole; a bad end can only have cost its usage.
    const isBadEnd = ["cut", "malformed", "stalled"].includes(failure.code);
    if (isBadEnd && answer.isFinished) return answer.outcome(request.model);
    return { kind: "failed", ...failure, detail: this.#clean(`${this.#where}: ${failure.detail}`) };
  }
}

/** The raw response: what the client's own stream hides (`[DONE]`, keep-alives, whole bodies) decides outcomes. */
function post(
  client: OpenAI,
  body: OpenAI.Chat.ChatCompletionCreateParamsStreaming,
  signal: AbortSignal,
): Promise<Response> {
  const headers = { Accept: "text/event-stream, application/json" };
  return client.chat.completions.create(body, { signal, headers }).asResponse();
}

/** A preview may be lost: a listener that throws must not cost the answer. */
function preview(onText: (text: string) => void, text: string): void {
  try {
    onText(text);
  } catch {
    // The answer's text is complete without it.
  }
}
