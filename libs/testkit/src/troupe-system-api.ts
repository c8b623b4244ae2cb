/** A request to the HTTP API; what is not given is as `fetch` has it. */
export interface ApiRequest {
  readonly method?: string;
  /** Sent as JSON; its presence alone makes the method POST. */
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; null when there is none. */
  readonly body: unknown;
}

/** Asks a gateway, with the token that opens it. */
export async function askApi(url: string, token: string, request: ApiRequest = {}): Promise<ApiAnswer> {
  const { json, headers = {}, signal } = request;
  const method = request.method ?? (json === undefined ? "GET" : "POST");
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
