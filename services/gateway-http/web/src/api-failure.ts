import { JsonFields } from "./json-fields.js";

/** A request that did not succeed, with words for the person. */
export class ApiFailure extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly retryAfterMs: number | null;

  constructor(status: number, message: string, retryAfterMs: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same request may succeed later; without a token, once the person has signed in. */
  get passing(): boolean {
    return this.status === 0 || this.status === 401 || this.status === 429 || this.status >= 500;
  }
}

/** The failure that a refusing answer tells of. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const detail = await problemDetail(response);
  return new ApiFailure(response.status, detail, Number.isFinite(seconds) ? seconds * 1_000 : null);
}

async function problemDetail(response: Response): Promise<string> {
  const otherwise = `the gateway answered with status ${response.status}`;
  try {
    return new JsonFields(await response.json()).textOrNull("detail") ?? otherwise;
  } catch {
    return otherwise;
  }
}
