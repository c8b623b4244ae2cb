/** A request that gets an error of this status, in OpenAI's envelope. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;
  /** Path of the field that is wrong; empty when it is none. */
  readonly param: string;

  constructor(status: number, message: string, param = "") {
    super(message);
    this.status = status;
    this.param = param;
  }

  get envelope(): Readonly<Record<string, unknown>> {
    const type = this.status >= 500 ? "server_error" : "invalid_request_error";
    const param = this.param === "" ? null : this.param;
    return { error: { message: this.message, type, param, code: null } };
  }
}
