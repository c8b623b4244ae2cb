import type { SessionKey } from "@troupe/contracts";
import { type Bus, publishPort, statePort } from "@troupe/jetstream";
import type { Look } from "@troupe/jobs";
import { listedJob } from "@troupe/jobs/testing";
import { z } from "zod";

/** As much of a session's state as jobs are derived from. */
const State = z.object({ generation: z.number(), messageCount: z.number(), lastConsolidated: z.number() });
export type State = z.infer<typeof State>;

export const THRESHOLD = 40;

const EMPTY: State = { generation: 0, messageCount: 0, lastConsolidated: 0 };

/** State of conversations in the bucket `sessions`, written by compare-and-set. */
export class ConversationState {
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  async read(key: SessionKey): Promise<{ readonly state: State; readonly revision: number }> {
    const stored = await statePort(this.#bus).read(key, "leader");
    if (stored === null) return { state: EMPTY, revision: 0 };
    return { state: State.parse(JSON.parse(stored.text)), revision: stored.revision };
  }

  async look(key: SessionKey): Promise<Look> {
    const { state } = await this.read(key);
    const { generation, messageCount, lastConsolidated } = state;
    const isDue = messageCount - lastConsolidated >= THRESHOLD;
    return { generation, due: isDue ? `${generation}:${lastConsolidated}-${messageCount}` : null };
  }

  /** A commit of the session's: more messages, and the job that follows when the threshold is crossed. */
  async commit(key: SessionKey, messages: number): Promise<"published" | "duplicate" | "waiting" | "not due"> {
    const { state, revision } = await this.read(key);
    const messageCount = state.messageCount + messages;
    const stored = await this.#write(key, { ...state, messageCount }, revision);
    if (!stored) throw new Error("somebody else wrote");
    if ((await this.look(key)).due === null) return "not due";
    const { generation } = state;
    return publishPort(this.#bus).publish(
      listedJob(`${key}:${revision}:0`, { kind: "consolidation", key, generation }),
    );
  }

  /** What a consolidation leaves behind; false when the state has moved on. */
  async consolidate(key: SessionKey, piece: string): Promise<boolean> {
    const { state, revision } = await this.read(key);
    const { generation, lastConsolidated } = state;
    if (!piece.startsWith(`${generation}:${lastConsolidated}-`)) return false;
    return this.#write(key, { ...state, lastConsolidated: Number(piece.split("-")[1]) }, revision);
  }

  async #write(key: SessionKey, state: State, revision: number): Promise<boolean> {
    return (await statePort(this.#bus).write(key, JSON.stringify(state), revision)).kind === "stored";
  }
}
