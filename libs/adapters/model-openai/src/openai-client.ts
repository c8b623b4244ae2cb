import { APIError, OpenAI } from "openai";
import { bytesOf, createTransport, type Transport } from "./http-transport.js";

export interface ProviderOptions {
  /** Base URL of an OpenAI-compatible API, usually ending in `/v1`; absent: OpenAI's own. */
  readonly baseUrl?: string;
  /** Empty for servers that ask for none: then no Authorization header is sent. */
  readonly apiKey: string;
  /** How long making a connection may take, in milliseconds; 5,000. */
  readonly connectTimeoutMs?: number;
  /** Stands in for the adapter's own transport; `connectTimeoutMs` then has no effect. */
  readonly fetch?: typeof globalThis.fetch;
}

export const openAiBaseUrl = "https://api.openai.com/v1";

const defaultConnectTimeoutMs = 5_000;

/** Longer than any call: silence and the caller's signal end calls, not the client's own timer. */
const noTimeoutMs = 2 ** 31 - 1;

/**
 * OpenAI's client, which would drop an error body without an `error` field. Other servers put their
 * words elsewhere, so the whole body stands in for it.
 */
class CompatibleClient extends OpenAI {
  protected override makeStatusError(status: number, body: object, message: string | undefined, headers: Headers) {
    const error: unknown = Reflect.get(Object(body), "error") ?? body;
    return new APIError(
      status,
      typeof error === "string" ? { message: error } : Object(error ?? message),
      message,
      headers,
    );
  }
}

export interface Client {
  readonly api: OpenAI;
  /** The bytes of a response of status 2xx that `api` returned; to be read once. */
  readonly bodyOf: Transport["bodyOf"];
}

/** A client that neither retries, nor logs, nor takes its options from the environment. */
export function createClient(options: ProviderOptions): Client {
  const apiKey = options.apiKey.trim();
  const transport: Transport =
    options.fetch === undefined
      ? createTransport(options.connectTimeoutMs ?? defaultConnectTimeoutMs)
      : { fetch: options.fetch, bodyOf: bytesOf };
  const api = new CompatibleClient({
    baseURL: options.baseUrl ?? openAiBaseUrl,
    // The client refuses to exist without a key; the header is taken out again below.
    apiKey: apiKey === "" ? "none" : apiKey,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    timeout: noTimeoutMs,
    defaultHeaders: { "User-Agent": "troupe", ...(apiKey === "" ? { Authorization: null } : {}) },
    fetch: transport.fetch,
  });
  return { api, bodyOf: transport.bodyOf };
}
