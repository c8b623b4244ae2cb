import { type LevelWithSilent, type Logger, destination, pino, stdSerializers, stdTimeFunctions } from "pino";
import { prettyLine } from "./pretty-line.js";
import { redactFields, redactText } from "./redaction.js";

export type { Logger };

export interface LoggerOptions {
  readonly service: string;
  readonly level: LevelWithSilent;
  /** One human-readable line per entry instead of JSON. */
  readonly pretty?: boolean;
}

/** Entries that wait while nobody reads stdout; more are dropped, so that a stopped reader costs no memory. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/**
 * The process's log on stdout, one line per entry, without secrets. Writing it never blocks, fails or ends the process:
 * when the reader is gone, the log goes on quietly into nothing. `flush` calls back when all of it is written; exit only
 * after that, or the last lines are lost.
 */
export function createLogger({ service, level, pretty = false }: LoggerOptions): Logger {
  const log: Logger = pino(
    {
      level,
      base: { service, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        // pino's own redaction wants each path spelled out; this walk is the one that --print-config uses.
        log: (fields) => redactFields(fields),
      },
      serializers: {
        // Client libraries hang headers and requests on their errors.
        err: (error: Error) => redactFields({ ...stdSerializers.err(error) }),
      },
      hooks: { streamWrite: redactText },
    },
    openStdout(pretty ? prettyLine : (line) => line),
  );
  const { child } = log;
  // The library runs no formatter over the fields of a child. Children inherit this method.
  log.child = function redactedChild(this: Logger, fields, options) {
    return child.call(this, redactFields(fields), options);
  } as Logger["child"];
  return log;
}

function openStdout(form: (line: string) => string) {
  const stdout = destination({ dest: 1, sync: false, maxLength: MAX_WAITING_BYTES });
  const flushed: (() => void)[] = [];
  let waiting = false;
  let gone = false;
  const settle = (): void => {
    waiting = false;
    for (const callback of flushed.splice(0)) callback();
  };
  stdout.on("drain", settle).on("error", (error: Error) => {
    // A full disk may have room again later; a reader does not come back.
    gone = "code" in error && error.code === "EPIPE";
    settle();
  });
  return {
    write: (line: string): void => {
      if (gone) return;
      waiting = true;
      stdout.write(form(line));
    },
    // The library's own flush returns at once when it does not collect lines first.
    flush: (callback: () => void): void => {
      if (waiting) flushed.push(callback);
      else callback();
    },
  };
}
