/** An expected reason why a service cannot start, such as a port in use: printed as one line, without a stack. */
export class StartError extends Error {
  readonly kind = "start";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StartError";
  }
}
