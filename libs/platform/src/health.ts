export type ComponentState = "ok" | "degraded" | "down";

export interface HealthReport {
  /** Whether new work may be sent here: started, not draining, and nothing down. */
  readonly ready: boolean;
  readonly phase: "starting" | "running" | "draining";
  readonly components: Readonly<Record<string, { readonly state: ComponentState; readonly detail?: string }>>;
}

/** What the parts of a process say about themselves. `detail` is shown to whoever asks: no internals, no secrets. */
export class Health {
  readonly #components = new Map<string, { state: ComponentState; detail?: string }>();
  #phase: HealthReport["phase"] = "starting";

  set(name: string, state: ComponentState, detail?: string): void {
    this.#components.set(name, detail === undefined ? { state } : { state, detail });
  }

  /** Called once by the lifecycle; a process that drains never runs again. */
  enter(phase: "running" | "draining"): void {
    if (this.#phase !== "draining") this.#phase = phase;
  }

  report(): HealthReport {
    const down = [...this.#components.values()].some(({ state }) => state === "down");
    return {
      ready: this.#phase === "running" && !down,
      phase: this.#phase,
      components: Object.fromEntries(this.#components),
    };
  }
}
