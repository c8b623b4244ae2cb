export { Breach, Invariants } from "./invariants.js";
export { MemoryBroker, type PublishedMessage, type StoredMail } from "./memory-broker.js";
export { MemoryPorts } from "./memory-ports.js";
export { PORT_LAWS } from "./port-laws.js";
export type { PortLaw, PortSubjects, PortWorld } from "./port-laws-world.js";
export { Random } from "./random.js";
export { type SimFields, type SimOutcome, type SimRun, simActor } from "./sim-actor.js";
export { simulate, type SimulationOptions, type SimulationResult } from "./simulation.js";
