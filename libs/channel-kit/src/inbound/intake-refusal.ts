/** A message that will never be taken in. */
export class IntakeRefusal extends Error {
  override readonly name = "IntakeRefusal";
  /** `id_conflict`: its id belongs to another message. `invalid`: it can be no message. */
  readonly code: "id_conflict" | "invalid";

  constructor(code: "id_conflict" | "invalid", message: string) {
    super(message);
    this.code = code;
  }
}
