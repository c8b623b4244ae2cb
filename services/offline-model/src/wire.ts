import { type ServiceContext, StartError } from "@troupe/platform";
import { startOfflineModel } from "./offline-model.js";

/** Opens the one part and tells whoever started the process where it listens. */
export async function wire({ log, open }: Pick<ServiceContext<unknown>, "log" | "open">, port: number): Promise<void> {
  const model = await open(
    "offline model",
    () => startOfflineModel(port).catch((error: unknown) => refusePort(port, error)),
    (part) => part.close(),
  );
  log.info({ url: model.url }, `the offline model listens on ${model.url}`);
  if (process.connected) process.send?.({ ready: true, url: model.url }, undefined, undefined, () => {});
}

function refusePort(port: number, cause: unknown): never {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
  throw new StartError(`cannot listen on port ${port} (${code}): choose another with --port`, {
    cause,
  });
}
