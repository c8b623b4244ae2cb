import { z } from "zod";

/** An error as a provider put it in words: in an error body, or inside a stream. */
export interface ProviderError {
  readonly message: string;
  readonly code: string;
  readonly type: string;
  /** Everything that was sent, as text, for the wordings that sit in unusual places. */
  readonly raw: string;
}

const word = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value) => (value === null || value === undefined ? "" : String(value)))
  .catch("");

const errorObject = z.object({ message: word, code: word, type: word, status: word, msg: word });

/** Reads whatever was sent as an error. */
export function readProviderError(value: unknown): ProviderError {
  if (typeof value === "string") return { message: value, code: "", type: "", raw: value };
  const raw = JSON.stringify(value) ?? "";
  const parsed = errorObject.safeParse(value);
  if (!parsed.success) return { message: raw, code: "", type: "", raw };
  const { message, msg, code, status, type } = parsed.data;
  return { message: message || msg || raw, code: code || status, type, raw };
}

const errorEvent = z.object({
  error: z.unknown().optional(),
  object: z.string().nullish().catch(undefined),
  type: z.string().nullish().catch(undefined),
  choices: z
    .array(
      z.object({
        error: z.unknown().optional(),
        finish_reason: z.string().nullish().catch(undefined),
      }),
    )
    .nullish()
    .catch(undefined),
});

/**
 * The error that a JSON value from a stream or a body of status 200 carries, if it does.
 * @param eventType the `event:` field of the stream event.
 */
export function errorWithin(value: unknown, eventType?: string): ProviderError | undefined {
  const parsed = errorEvent.safeParse(value);
  if (!parsed.success) return undefined;
  const { error, object, type, choices } = parsed.data;
  if (error) return readProviderError(error);
  const failed = choices?.find((choice) => choice.error || choice.finish_reason === "error");
  if (failed !== undefined) return readProviderError(failed.error ?? "the provider broke the answer off");
  if (eventType === "error" || object === "error" || type === "error") return readProviderError(value);
  return undefined;
}
