import type { ServerResponse } from "node:http";
import type { Final, SessionEntry, SessionKey } from "@troupe/contracts";
import type { OutboxFeed } from "@troupe/jetstream";
import { finalOfTurn } from "@troupe/channel-kit";
import type { Gateway } from "./gateway.js";

/** Listens for one turn's final; begun before the message is sent, so that it cannot be missed. */
export interface TurnWatch {
  readonly final: Promise<Final>;
  stop(): void;
}

export function watchTurn(outbox: OutboxFeed, key: SessionKey, turn: string): TurnWatch {
  let stop = (): void => {};
  const final = new Promise<Final>((resolve) => {
    stop = outbox.listen(key, (event) => {
      const found = finalOfTurn(event, turn);
      if (found === undefined) return;
      stop();
      resolve(found);
    });
  });
  return { final, stop };
}

export type WaitEnd =
  | { readonly kind: "final"; readonly final: Final }
  | { readonly kind: "timeout" }
  /** The client closed the connection. */
  | { readonly kind: "gone" }
  /** The process is about to end. */
  | { readonly kind: "closing" };

/** Waits for the final, at most `waitMs`, and no longer than there is somebody to tell it to. */
export function waitForFinal(
  { long, metrics }: Pick<Gateway, "long" | "metrics">,
  watch: TurnWatch,
  response: ServerResponse,
  waitMs: number,
): Promise<WaitEnd> {
  const startedAt = performance.now();
  metrics.waiting.inc();
  return new Promise((resolve) => {
    let ended = false;
    const end = (result: WaitEnd): void => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      leave();
      metrics.waiting.dec();
      response.off("close", gone);
      if (result.kind === "final") {
        metrics.turnWait.observe((performance.now() - startedAt) / 1000);
      }
      resolve(result);
    };
    const gone = (): void => end({ kind: "gone" });
    const timer = setTimeout(() => end({ kind: "timeout" }), waitMs);
    const leave = long.add({ wrapUp: () => end({ kind: "closing" }) });
    response.once("close", gone);
    if (response.destroyed) gone();
    void watch.final.then((final) => end({ kind: "final", final }));
  });
}

export interface WaitingFor {
  readonly kind: "approval" | "tasks" | "person" | "model" | "queue";
  readonly id: string | null;
}

/** What a turn that is not done waits for. In the queue `id` is the turn ahead of it, if one is known. */
export function waitingFor(entry: SessionEntry | null, turn: string): WaitingFor[] {
  if (entry === null) return [{ kind: "queue", id: null }];
  const { turn: current, queued, steered } = entry.fields;
  if (current?.id === turn) {
    const { status } = current;
    return [{ kind: status === "running" ? "model" : WAITS[status], id: turn }];
  }
  // One that was handed to the running turn waits for that turn's next step.
  if (steered.some((message) => message.turn === turn)) {
    return [{ kind: "model", id: current?.id ?? turn }];
  }
  const place = queued.findIndex((message) => message.turn === turn);
  const ahead = place < 0 ? queued.at(-1) : queued[place - 1];
  return [{ kind: "queue", id: ahead?.turn ?? current?.id ?? null }];
}

const WAITS = {
  waiting_approval: "approval",
  waiting_tasks: "tasks",
  waiting_person: "person",
} as const;
