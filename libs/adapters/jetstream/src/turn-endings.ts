import { endingSubject, type SessionKey } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { WireError } from "./wire-error.js";

/**
 * Between the processes of a channel: the one that is about to send a turn's reply asks the one that shows the turn's
 * previews to show no more. A core request: nobody listens where nothing is shown, and then the answer comes at once.
 */
export interface TurnEndings {
  /** Answers whoever asks about the turn when `end` has resolved; the result ends that. */
  serve(key: SessionKey, turn: string, end: () => Promise<void>): () => void;
  /** Resolves when nothing more is shown of the turn, or when nobody has said so in time. Rejects without a connection. */
  ask(key: SessionKey, turn: string, limitMs: number): Promise<void>;
}

/** Nobody shows previews of the turn, or whoever does is not waited for any longer. */
const NOBODY: readonly string[] = ["no-responders", "timeout"];

export function turnEndings(bus: Bus): TurnEndings {
  const wire = wireOf(bus);
  return {
    serve: (key, turn, end) => {
      const subscription = wire.nc.subscribe(endingSubject(key, turn), {
        callback: (error, message) => {
          if (error) return;
          void end().then(() => wire.tell(message.reply ?? "", ""));
        },
      });
      return () => subscription.unsubscribe();
    },
    ask: async (key, turn, limitMs) => {
      try {
        await wire.ask({ subject: endingSubject(key, turn), payload: "" }, limitMs);
      } catch (cause) {
        if (!(cause instanceof WireError && NOBODY.includes(cause.kind))) throw cause;
      }
    },
  };
}
