import { parseSessionId } from "@troupe/contracts";
import type { ServiceProcess } from "@troupe/testkit";
import type { Published, TapVerdict, WireTap } from "./wire-tap.js";

/** Which of a session's messages to the NATS server is the process's last, and whether it still gets there. */
export interface CrashPoint {
  /** What was reached, in the kernel's own words. */
  readonly name: string;
  readonly isLast: (published: Published) => boolean;
  /** How many such messages get through before the one that counts. */
  readonly skip?: number;
  /** `before`: it is kept back; `after`: it is the last that the server gets. */
  readonly dies: "before" | "after";
}

/** Subjects of a session's messages, as an orchestrator sends them. */
export function subjectsOf(session: string) {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  const { key } = parsed;
  return {
    read: `$JS.API.DIRECT.GET.KV_sessions.$KV.sessions.${key}`,
    write: `$KV.sessions.${key}`,
    outbox: `outbox.${key}`,
  };
}

/** Kills the first process that reaches the point; resolves with it. */
export function killAt(point: CrashPoint, all: readonly { tap: WireTap; service: ServiceProcess }[]) {
  let left = point.skip ?? 0;
  let isOver = false;
  return new Promise<ServiceProcess>((resolve) => {
    for (const { tap, service } of all) {
      const reached = (published: Published): boolean => !isOver && point.isLast(published) && left-- === 0;
      const die = (): void => {
        isOver = true;
        void service.kill("SIGKILL").then(() => resolve(service));
      };
      tap.before = (published): TapVerdict => {
        if (point.dies !== "before" || !reached(published)) return "pass";
        die();
        return "drop";
      };
      tap.after = (published): void => {
        if (point.dies === "after" && reached(published)) die();
      };
    }
  });
}
