import type { Wire } from "./wire.js";

/** One connection of one process. */
export interface Bus {
  /** Bytes, headers included; a message over it cannot be sent. */
  readonly maxPayload: number;
  readonly serverVersion: string;
  /** Whether the server can be reached right now. */
  connected(): boolean;
  /** Tells of every loss of the server and every return; not of a `close`. */
  onStatus(fn: (status: "connected" | "disconnected", detail: string) => void): void;
  /** Drains, then closes; ends within about two seconds whatever the server does. */
  close(): Promise<void>;
}

/** Drain waits for the server; a dead one must not hold the process. */
const CLOSE_MS = 1_500;

const wires = new WeakMap<Bus, Wire>();

export function busOn(wire: Wire): Bus {
  // The client forgets the server's info while it reconnects.
  let { maxPayload, version } = infoOf(wire, { maxPayload: 1024 * 1024, version: "" });
  const bus: Bus = {
    get maxPayload() {
      ({ maxPayload, version } = infoOf(wire, { maxPayload, version }));
      return maxPayload;
    },
    get serverVersion() {
      ({ maxPayload, version } = infoOf(wire, { maxPayload, version }));
      return version;
    },
    connected: () => wire.up,
    onStatus: (fn) => {
      wire.watch((up, detail) => {
        if (!wire.closed) fn(up ? "connected" : "disconnected", detail);
      });
    },
    close: () => closeWire(wire),
  };
  wires.set(bus, wire);
  return bus;
}

/** The connection behind a bus; only this library has use for it. */
export function wireOf(bus: Bus): Wire {
  const wire = wires.get(bus);
  if (wire === undefined) throw new TypeError("not a bus made by connectBus");
  return wire;
}

interface KnownInfo {
  readonly maxPayload: number;
  readonly version: string;
}

function infoOf(wire: Wire, before: KnownInfo): KnownInfo {
  const info = wire.nc.info;
  return info === undefined ? before : { maxPayload: info.max_payload, version: info.version };
}

async function closeWire(wire: Wire): Promise<void> {
  if (wire.nc.isClosed()) return;
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS);
  });
  wire.sendSoon();
  // A disconnected client cannot drain.
  if (wire.up) await Promise.race([wire.nc.drain().catch(() => undefined), patience]);
  clearTimeout(timer);
  wire.close();
  await Promise.race([wire.nc.close().catch(() => undefined), patience]);
}
