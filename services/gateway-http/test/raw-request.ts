import { type OutgoingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import type { RunningGateway } from "./gateway-harness.js";
import { TOKEN } from "./gateway-harness.js";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** A request whose `Host`, `Origin` and other headers are as given: `fetch` does not let one set them. */
export function rawRequest(
  gateway: RunningGateway,
  path: string,
  options: { method?: string; headers?: OutgoingHttpHeaders; token?: boolean; body?: string } = {},
): Promise<RawAnswer> {
  const { method = "GET", headers = {}, token = true, body } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: gateway.port,
        path,
        method,
        headers: { ...(token ? { authorization: `Bearer ${TOKEN}` } : {}), ...headers },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (part) => {
          text += part;
        });
        incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: text }));
      },
    );
    outgoing.on("error", reject).end(body);
  });
}

/** Bytes over a bare connection, and all that comes back until the server closes it. */
export function rawBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (part) => {
      answer += part;
    });
    socket.on("close", () => resolve(answer)).on("error", reject);
  });
}
