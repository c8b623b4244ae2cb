/**
 * A message that is not taken in, with a sentence that may be told to the outside.
 *
 * - `id_conflict`: its id belongs to another message
 * - `invalid`: it can be no message
 * - `unavailable`: not now; the same message may be repeated, under the same id
 */
export class IntakeRefusal extends Error {
  override readonly name = "IntakeRefusal";
  readonly code: "id_conflict" | "invalid" | "unavailable";

  constructor(code: IntakeRefusal["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Whether the outside shall repeat the message; of any other refusal it shall not. */
  get isPassing(): boolean {
    return this.code === "unavailable";
  }
}
