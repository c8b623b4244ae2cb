export { Breach, Invariants } from "./invariants.js";
export { MemoryBroker, type PublishedMessage, type StoredMail } from "./memory-broker.js";
export { Random } from "./random.js";
export { type SimFields, type SimOutcome, type SimRun, simActor } from "./sim-actor.js";
export { simulate, type SimulationOptions, type SimulationResult } from "./simulation.js";
