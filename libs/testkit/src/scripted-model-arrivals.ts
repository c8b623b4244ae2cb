import { matches, type RequestMatch, type ScriptedRequest } from "./scripted-model-request.js";

export interface Arrivals {
  /** In the order of their arrival. */
  readonly requests: readonly ScriptedRequest[];
  add(request: ScriptedRequest): void;
  /** The request number `which` (from 1), or the first, already here or to come, that matches. */
  waitFor(which: number | RequestMatch): Promise<ScriptedRequest>;
}

export function createArrivals(): Arrivals {
  const requests: ScriptedRequest[] = [];
  const waiting = new Set<(request: ScriptedRequest) => void>();
  return {
    requests,
    add: (request) => {
      requests.push(request);
      for (const tell of waiting) tell(request);
    },
    waitFor: (which) => {
      const isIt = (request: ScriptedRequest): boolean =>
        typeof which === "number" ? request === requests[which - 1] : matches(which, request);
      const here = requests.find(isIt);
      if (here !== undefined) return Promise.resolve(here);
      return new Promise((resolve) => {
        const tell = (request: ScriptedRequest): void => {
          if (!isIt(request)) return;
          waiting.delete(tell);
          resolve(request);
        };
        waiting.add(tell);
      });
    },
  };
}
