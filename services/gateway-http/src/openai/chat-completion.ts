/** What every object of one completion says about it. */
export interface CompletionHead {
  readonly turn: string;
  readonly model: string;
  /** Seconds since the epoch. */
  readonly created: number;
}

/** Tokens are counted by the turn, whose account is closed with it: this protocol gets zeros. */
const USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } as const;

export function completion({ turn, model, created }: CompletionHead, content: string) {
  return {
    id: `chatcmpl-${turn}`,
    object: "chat.completion",
    created,
    model,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content, refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: USAGE,
  };
}

const EMPTY_TEXT = '"content":""';

/** Writes the chunks of one streamed completion as server-sent events. */
export class CompletionChunks {
  readonly #head: Readonly<Record<string, unknown>>;
  readonly #includeUsage: boolean;
  /** What stands before and after the text in a chunk: thousands of them differ in nothing else. */
  readonly #around: readonly [before: string, after: string];

  constructor({ turn, model, created }: CompletionHead, includeUsage: boolean) {
    this.#head = { id: `chatcmpl-${turn}`, object: "chat.completion.chunk", created, model };
    this.#includeUsage = includeUsage;
    const empty = this.#chunk({ content: "" }, null);
    // Inside of JSON's strings quotation marks are escaped, so this is the field and no part of a name.
    const end = empty.indexOf(EMPTY_TEXT) + EMPTY_TEXT.length - 1;
    this.#around = [empty.slice(0, end - 1), empty.slice(end + 1)];
  }

  first(): string {
    return this.#chunk({ role: "assistant", content: "" }, null);
  }

  text(content: string): string {
    return this.#around[0] + JSON.stringify(content) + this.#around[1];
  }

  /** The end of a complete answer. */
  last(): string {
    const usage = this.#includeUsage ? frame({ ...this.#head, choices: [], usage: USAGE }) : "";
    return `${this.#chunk({}, "stop")}${usage}data: [DONE]\n\n`;
  }

  #chunk(delta: ChunkDelta, finish_reason: "stop" | null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return frame({ ...this.#head, choices, ...(this.#includeUsage ? { usage: null } : {}) });
  }
}

interface ChunkDelta {
  readonly role?: "assistant";
  readonly content?: string;
}

/** One unnamed event. */
export function frame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
