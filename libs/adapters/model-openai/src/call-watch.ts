/** Why a call was ended from this side. */
export type CallEnd = "aborted" | "stalled";

/** Ends a call when its caller aborts it or nothing has come for too long. */
export interface CallWatch {
  /** Ends the request. Used for this call alone, so that no listener outlives it on the caller's signal. */
  readonly signal: AbortSignal;
  /** Resolves when the call is ended from this side; stays pending otherwise. */
  readonly ended: Promise<CallEnd>;
  /** Set from the moment the call is ended from this side. */
  readonly end: CallEnd | undefined;
  /** False once the call is ended or released: nothing that comes later counts. */
  readonly isLive: boolean;
  /** Something came: the silence starts anew. */
  alive(): void;
  /** From now on this much silence is the limit. */
  limit(silenceMs: number): void;
  /** Drops the connection, also after the release. */
  drop(): void;
  /** The call is over; lets go of the timer and of the caller's signal. */
  release(): void;
}

/** @param stallMs the silence in milliseconds after which the call counts as stalled. */
export function watchCall(caller: AbortSignal, stallMs: number): CallWatch {
  const controller = new AbortController();
  let end: CallEnd | undefined;
  let isLive = true;
  let settle: (end: CallEnd) => void = () => {};
  const ended = new Promise<CallEnd>((resolve) => {
    settle = resolve;
  });
  const release = (): void => {
    isLive = false;
    clearTimeout(timer);
    caller.removeEventListener("abort", onAbort);
  };
  const finish = (why: CallEnd): void => {
    if (!isLive) return;
    release();
    end = why;
    settle(why);
    controller.abort();
  };
  const onAbort = (): void => finish("aborted");
  const onSilence = (): void => finish("stalled");
  let timer = setTimeout(onSilence, stallMs);
  caller.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    ended,
    get end() {
      return end;
    },
    get isLive() {
      return isLive;
    },
    alive: () => {
      if (isLive) timer.refresh();
    },
    limit: (silenceMs) => {
      if (!isLive) return;
      clearTimeout(timer);
      timer = setTimeout(onSilence, silenceMs);
    },
    drop: () => controller.abort(),
    release,
  };
}
