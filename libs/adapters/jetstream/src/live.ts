import { liveSubject, type SessionKey } from "@troupe/contracts";
import { type Bus, wireOf } from "./bus.js";
import { callOut } from "./call-out.js";
import { textOf } from "./wire.js";

/** Previews over core NATS: fire and forget, never trusted. */
export interface LivePublisher {
  publish(key: SessionKey, body: string): void;
}

export interface LiveSubscriber {
  /** Calls back with each body from now on; the result ends that. */
  subscribe(key: SessionKey, fn: (body: string) => void): () => void;
}

export function livePublisher(bus: Bus): LivePublisher {
  const wire = wireOf(bus);
  return { publish: (key, body) => wire.tellSoon(liveSubject(key), body) };
}

/** Listeners of one key share one subscription. */
export function liveSubscriber(bus: Bus): LiveSubscriber {
  const { nc } = wireOf(bus);
  const listeners = new Map<SessionKey, { readonly all: Set<Listener>; readonly end: () => void }>();

  const open = (key: SessionKey): { readonly all: Set<Listener>; readonly end: () => void } => {
    const all = new Set<Listener>();
    const subscription = nc.subscribe(liveSubject(key), {
      callback: (error, message) => {
        if (error) return;
        const body = textOf(message);
        for (const listener of all) callOut(() => listener.hear(body));
      },
    });
    const shared = {
      all,
      end: () => {
        listeners.delete(key);
        subscription.unsubscribe();
      },
    };
    listeners.set(key, shared);
    return shared;
  };

  return {
    subscribe: (key, fn) => {
      const shared = listeners.get(key) ?? open(key);
      // An object of its own, so that the same function may listen twice.
      const listener: Listener = { hear: fn };
      shared.all.add(listener);
      return () => {
        if (shared.all.delete(listener) && shared.all.size === 0) shared.end();
      };
    },
  };
}

interface Listener {
  readonly hear: (body: string) => void;
}
