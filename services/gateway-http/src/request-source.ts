import { HttpProblem } from "./problem.js";

/**
 * Where requests may come from. A page of another site can make a browser send requests here, and by
 * pointing its own name at this address (DNS rebinding) even read the answers; the browser gives both
 * away in `Origin` and `Host`.
 */
export interface SourceRules {
  /** The address that the server is bound to. */
  readonly host: string;
  /** Further names, with a port (only that one) or without (any). */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

export type SourceCheck = (headers: {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
}) => HttpProblem | null;

const HOST = /^(\[[0-9a-f:.]+\]|[^:/?#@\s]+)(:\d{1,5})?$/i;

export function sourceCheck(rules: SourceRules): SourceCheck {
  const bound = rules.host.includes(":") ? `[${rules.host}]` : rules.host;
  const hosts = new Set(
    ["localhost", "127.0.0.1", "[::1]", bound, ...rules.allowedHosts].map((name) => name.toLowerCase()),
  );
  const origins = new Set(rules.allowedOrigins.map((origin) => new URL(origin).origin));
  return (headers) => {
    if (headers.host === undefined) {
      return new HttpProblem(400, "malformed_request", "the request names no Host");
    }
    const host = headers.host.toLowerCase();
    const name = HOST.exec(host)?.[1];
    if (name === undefined || !(hosts.has(name) || hosts.has(host))) {
      return new HttpProblem(
        403,
        "host_not_allowed",
        "this Host is not served here; add it to http.allowedHosts if it should be",
      );
    }
    const origin = headers.origin?.toLowerCase();
    if (origin === undefined || origin === `http://${host}` || origin === `https://${host}`) {
      return null;
    }
    if (origins.has(origin)) return null;
    return new HttpProblem(
      403,
      "origin_not_allowed",
      "this Origin may not use the API; add it to http.allowedOrigins if it should",
    );
  };
}
