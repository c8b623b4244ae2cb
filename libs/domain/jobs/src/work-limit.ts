import type { Clock } from "@troupe/kernel";

/** J9: nothing came of it within its time. */
export class NoEnd extends Error {
  override readonly name = "NoEnd";
}

/** What comes of the work, or a rejection with `NoEnd` after so many milliseconds; a throw of it is a rejection. */
export async function withLimit<T>(clock: Clock, limitMs: number, work: () => Promise<T>): Promise<T> {
  let cancel: () => void = () => undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(limitMs, () => reject(new NoEnd(`no end after ${limitMs} ms`)));
  });
  try {
    return await Promise.race([work(), limit]);
  } finally {
    cancel();
  }
}
