import type { ModelOutcome, ModelUsage } from "@troupe/contracts";
import { CallAssembly } from "./call-assembly.js";
import { type Chunk, type ChunkPiece, textOf } from "./chunk.js";

/** Text and arguments of one answer, in UTF-16 units: eight times what any model may say. One that says more repeats itself. */
const MOST_LENGTH = 4 * 1024 * 1024;

/** The answer grew beyond all measure. */
export class EndlessAnswer extends Error {
  override readonly name = "EndlessAnswer";
}

/** What has come of an answer so far. */
export class Answer {
  readonly #calls = new CallAssembly();
  readonly #onText: (text: string) => void;
  #text = "";
  #length = 0;
  #finish: string | undefined;
  #model = "";
  #usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };

  /** @param onText called for each piece of text in order; must not throw. */
  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  /** True once the provider gave a finish reason: whatever breaks afterwards, the answer is whole. */
  get isFinished(): boolean {
    return this.#finish !== undefined;
  }

  /** @throws EndlessAnswer when it is too much */
  add(chunk: Chunk): void {
    if (chunk.model) this.#model = chunk.model;
    if (chunk.usage) {
      this.#usage = {
        inputTokens: chunk.usage.prompt_tokens ?? chunk.usage.input_tokens ?? 0,
        outputTokens: chunk.usage.completion_tokens ?? chunk.usage.output_tokens ?? 0,
      };
    }
    for (const choice of chunk.choices ?? []) {
      if ((choice.index ?? 0) !== 0) continue;
      this.#addPiece(choice.delta ?? choice.message ?? {});
      if (choice.finish_reason) this.#finish = choice.finish_reason;
    }
  }

  /** @param askedModel named when the provider did not say which model answered. */
  outcome(askedModel: string): ModelOutcome {
    const calls = this.#calls.calls;
    return {
      kind: "answer",
      text: this.#text,
      calls,
      finish: this.#finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
      usage: this.#usage,
      model: this.#model === "" ? askedModel : this.#model,
    };
  }

  #addPiece(piece: ChunkPiece): void {
    // A refusal is the model's answer in words, sent in a field of its own.
    const text = textOf(piece.content) + (piece.refusal ?? "");
    if (text !== "") {
      this.#text += text;
      this.#onText(text);
    }
    const calls = piece.tool_calls ?? [];
    const argumentsLength = calls.map(({ function: called }) => JSON.stringify(called?.arguments ?? "").length);
    this.#length += argumentsLength.reduce((sum, length) => sum + length, text.length);
    if (this.#length > MOST_LENGTH) throw new EndlessAnswer(`more than ${MOST_LENGTH} characters in one answer`);
    if (piece.tool_calls) this.#calls.add(piece.tool_calls);
  }
}
