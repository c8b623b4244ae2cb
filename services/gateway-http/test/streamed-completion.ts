import type OpenAI from "openai";
import { APIError } from "openai";

export interface StreamedCompletion {
  readonly chunks: OpenAI.ChatCompletionChunk[];
  readonly text: string;
  readonly error: APIError | undefined;
}

/** Streams completions, and lets the fake turn wait until the client has seen words of it. */
export class CompletionReader {
  readonly #client: OpenAI;
  #seen = (): void => {};

  constructor(client: OpenAI) {
    this.#client = client;
  }

  /** For a script: resolves when the next words have reached the client. */
  shown(): Promise<void> {
    return new Promise((resolve) => {
      this.#seen = resolve;
    });
  }

  async read(
    messages: OpenAI.ChatCompletionMessageParam[],
    more: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {},
  ): Promise<StreamedCompletion> {
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    let error: unknown;
    try {
      const stream = await this.#client.chat.completions.create({
        model: "troupe",
        messages,
        ...more,
        stream: true,
      });
      for await (const chunk of stream) {
        chunks.push(chunk);
        if (chunk.choices[0]?.delta.content) this.#seen();
      }
    } catch (caught) {
      error = caught;
    }
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    return { chunks, text, error: error instanceof APIError ? error : undefined };
  }
}
