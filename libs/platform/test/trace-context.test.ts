import fc from "fast-check";
import { expect, it } from "vitest";
import { childOf, newTrace, parseTrace } from "../src/index.js";

const FORM = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/;
const hex = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((text) => !/^0+$/.test(text));
const traceparent = fc.tuple(hex(32), hex(16), fc.constantFrom("00", "01", "02", "03", "ff")).map((parts) => ({
  text: `00-${parts.join("-")}`,
  traceId: parts[0],
  spanId: parts[1],
  flags: parts[2],
}));

it("makes traces that are valid and differ", () => {
  const made = Array.from({ length: 1000 }, newTrace);
  for (const trace of made) expect(trace.traceparent).toMatch(FORM);
  expect(new Set(made.map(({ traceId }) => traceId)).size).toBe(1000);
  expect(made[0]).toEqual(parseTrace(made[0]?.traceparent));
});

it("reads every valid header", () => {
  fc.assert(
    fc.property(traceparent, ({ text, traceId, spanId, flags }) => {
      const sampled = Number.parseInt(flags, 16) % 2 === 1;
      expect(parseTrace(text)).toMatchObject({ traceId, spanId, sampled });
    }),
  );
});

it("keeps the trace and the sampling in a child, under a span of its own", () => {
  fc.assert(
    fc.property(traceparent, ({ text, traceId, spanId }) => {
      const child = childOf(text);
      expect(child.traceparent).toMatch(FORM);
      expect(child.traceId).toBe(traceId);
      expect(child.spanId).not.toBe(spanId);
      expect(child.sampled).toBe(parseTrace(text)?.sampled);
    }),
  );
});

it("starts a new trace for anything that is damaged", () => {
  const damaged = traceparent.chain(({ text }) =>
    fc.oneof(
      fc.integer({ min: 0, max: text.length - 1 }).map((at) => text.slice(0, at)),
      fc.integer({ min: 0, max: text.length - 1 }).map((at) => `${text.slice(0, at)}G${text.slice(at + 1)}`),
      fc.string({ minLength: 1 }).map((more) => text + more),
      fc.string().map((more) => `${text}-${more}`),
      fc.constant(`ff${text.slice(2)}`),
      fc.constant(text.replace(/[0-9a-f]{32}/, "0".repeat(32))),
      fc.constant(text.replace(/-[0-9a-f]{16}-/, `-${"0".repeat(16)}-`)),
      fc.constant(`\n${text}`),
    ),
  );
  fc.assert(
    fc.property(fc.oneof(damaged, fc.string(), fc.constant(undefined)), (text) => {
      expect(parseTrace(text)).toBeNull();
      const fresh = childOf(text);
      expect(fresh.traceparent).toMatch(FORM);
      expect(text ?? "").not.toContain(fresh.traceId);
    }),
  );
});

it("reads what it knows of a later version", () => {
  const { traceId } = childOf(`01-${"a".repeat(32)}-${"b".repeat(16)}-01-more`);
  expect(traceId).toBe("a".repeat(32));
});
