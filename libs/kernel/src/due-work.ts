import type { Entry } from "./entry.js";
import { pauseOf } from "./fold.js";
import type { Work } from "./work.js";

/** Leaves out what failed a moment ago, and what comes after it in the same lane (K11). */
export function dueWork<M, R, O>(
  works: readonly Work<M, R, O>[],
  { attempts }: Pick<Entry<unknown, R>, "attempts">,
  now: number,
): Work<M, R, O>[] {
  const pausing = attempts.filter((x) => pauseOf(x, now) > 0).map((x) => x.input);
  const blocked = new Set<string>();
  return works.filter((work) => {
    const lane = (work.kind === "mail" ? work.lane : null) ?? work.name;
    if (pausing.includes(work.name)) blocked.add(lane);
    return !blocked.has(lane);
  });
}
