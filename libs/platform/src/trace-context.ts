import { randomBytes } from "node:crypto";

/** One span of a W3C trace: https://www.w3.org/TR/trace-context/#traceparent-header */
export interface Trace {
  /** 32 hexadecimal digits, shared by everything that one message sets off. */
  readonly traceId: string;
  /** 16 hexadecimal digits, of this step. */
  readonly spanId: string;
  readonly sampled: boolean;
  /** The header's value, ready to send. */
  readonly traceparent: string;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

export function newTrace(): Trace {
  return trace(randomBytes(16).toString("hex"), randomBytes(8).toString("hex"), true);
}

/** The next step of the trace that `traceparent` names; a new trace if it names none. */
export function childOf(traceparent: string | undefined): Trace {
  const parent = parseTrace(traceparent);
  return parent === null ? newTrace() : trace(parent.traceId, randomBytes(8).toString("hex"), parent.sampled);
}

/** `null` for anything that the specification calls invalid. Later versions are read as far as they are known. */
export function parseTrace(traceparent: string | undefined): Trace | null {
  const [, version, traceId = "", spanId = "", flags = "", more] = FORM.exec(traceparent ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return trace(traceId, spanId, (Number.parseInt(flags, 16) & 1) === 1);
}

function trace(traceId: string, spanId: string, sampled: boolean): Trace {
  return {
    traceId,
    spanId,
    sampled,
    traceparent: `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`,
  };
}
