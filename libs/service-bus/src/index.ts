export { asStartError, type BusConfig, openBus } from "./open-bus.js";
