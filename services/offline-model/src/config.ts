import { parseArgs } from "node:util";
import { z } from "zod";

/** Nothing of the installation's configuration concerns the offline model: it takes its port from the command line. */
export const OfflineModelConfig = z.object({});

export const usage = "usage: offline-model [--port <0 to 65535>]";

const portSchema = z.coerce.number().int().min(0).max(65_535);

/** The port of `--port`, 0 (a free one) without it; undefined when the arguments are wrong. */
export function readPort(args: readonly string[]): number | undefined {
  const options = {
    port: { type: "string", default: "0" },
    // Acted on by the platform.
    "print-config": { type: "boolean" },
  } as const;
  try {
    const { port } = parseArgs({ args: [...args], options }).values;
    return portSchema.safeParse(port === "" ? undefined : port).data;
  } catch {
    return undefined;
  }
}
