import { join } from "node:path";
import { z } from "zod";
import type { Variables } from "./environment-variables.js";
import { readStateFile } from "./state-file.js";

/** Where a client on this machine finds the gateway. */
export const GatewaySettings = z.object({ url: z.string() });
export type GatewaySettings = z.infer<typeof GatewaySettings>;

/** `gateway.json` in the data folder, written by whoever runs a local gateway. */
export const GatewayFile = z.object({ url: z.url({ protocol: /^https?$/ }) });

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Where `TROUPE_HTTP_HOST` and `TROUPE_HTTP_PORT` say, else where a running installation says that its gateway is, else
 * where one would be. Port 0 names no place: only the gateway knows which one it got.
 */
export function gatewaySettings(variables: Variables, dataDir: string, http: Address): GatewaySettings {
  const { TROUPE_HTTP_HOST: host, TROUPE_HTTP_PORT: port } = variables;
  if ((host === undefined && port === undefined) || port === 0) {
    const file = readStateFile(join(dataDir, "gateway.json"), GatewayFile);
    if (file.status === "ok") return { url: new URL(file.content.url).origin };
  }
  return { url: `http://${reachable(http.host)}:${http.port}` };
}

/** A gateway that listens on every address is reached on this machine's own. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
