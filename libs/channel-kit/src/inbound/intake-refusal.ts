/**
 * A message that will never be taken in, with a sentence that may be told to the outside.
 *
 * - `id_conflict`: its id belongs to another message
 * - `invalid`: it can be no message
 */
export class IntakeRefusal extends Error {
  override readonly name = "IntakeRefusal";
  readonly code: "id_conflict" | "invalid";

  constructor(code: IntakeRefusal["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
