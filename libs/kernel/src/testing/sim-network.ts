import { Breach } from "./invariants.js";
import type { Random } from "./random.js";

/** What a caller is part of: when it is dead nothing of it goes on, when it is paused nothing yet. */
export interface Caller {
  readonly id: string;
  readonly alive: boolean;
  readonly pausedUntil: number;
}

export interface Operation {
  readonly caller: Caller;
  readonly label: string;
  /** Whether it can land although its caller was told nothing. */
  readonly mayLandLate: boolean;
  readonly perform: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: Error) => void;
}

const FAULTS = ["dies before", "dies after", "answer lost", "fails", "lands late"] as const;
const FAULT_CHANCE = 0.12;
const NETWORK: Caller = { id: "network", alive: true, pausedUntil: 0 };

export interface SimNetworkBase {
  readonly random: Random;
  readonly trace: string[];
  /** Takes one from the faults that may still happen; false when none is left. */
  readonly takeFault: () => boolean;
  readonly kill: (caller: Caller) => void;
}

/** All port calls under way; each takes effect when the scheduler picks it, with or without a fault. */
export class SimNetwork {
  /** The first law that was seen broken. */
  breach: string | undefined;
  readonly #base: SimNetworkBase;
  #operations: Operation[] = [];

  constructor(base: SimNetworkBase) {
    this.#base = base;
  }

  get size(): number {
    return this.#operations.length;
  }

  ready(step: number): Operation[] {
    return this.#operations.filter((x) => x.caller.pausedUntil <= step);
  }

  call<T>(caller: Caller, label: string, mayLandLate: boolean, perform: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!caller.alive) return;
      const answer = (value: unknown) => resolve(value as T);
      this.#operations.push({ caller, label, mayLandLate, perform, resolve: answer, reject });
    });
  }

  cancel(matches: (operation: Operation) => boolean): void {
    this.#operations = this.#operations.filter((x) => !matches(x));
  }

  execute(operation: Operation): void {
    this.cancel((x) => x === operation);
    const { caller, label, mayLandLate, resolve, reject } = operation;
    const fault = this.#fault(mayLandLate);
    this.#base.trace.push(`${caller.id} ${label}${fault === undefined ? "" : ` ${fault}`}`);
    switch (fault) {
      case "dies before":
        return this.#base.kill(caller);
      case "fails":
        return reject(new Error("failed"));
      case "lands late":
        this.#operations.push({ ...operation, caller: NETWORK, resolve: ignore, reject: ignore, mayLandLate: false });
        return reject(new Error("timed out"));
      case "dies after":
        this.watch(operation.perform);
        return this.#base.kill(caller);
      case "answer lost":
        this.watch(operation.perform);
        return reject(new Error("answer lost"));
      case undefined:
        return resolve(this.watch(operation.perform));
    }
  }

  #fault(mayLandLate: boolean): (typeof FAULTS)[number] | undefined {
    const { random, takeFault } = this.#base;
    if (!random.chance(FAULT_CHANCE) || !takeFault()) return undefined;
    return FAULTS[random.below(mayLandLate ? FAULTS.length : FAULTS.length - 1)];
  }

  /** Performs what may show that a law is broken, wherever the kernel catches what is thrown. */
  watch<T>(perform: () => T): T {
    try {
      return perform();
    } catch (cause) {
      if (cause instanceof Breach) this.breach ??= cause.message;
      throw cause;
    }
  }
}

const ignore = (): void => undefined;
