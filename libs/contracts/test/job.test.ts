import { expect, test } from "vitest";
import {
  decode,
  encodeToken,
  Job,
  JOB_KINDS,
  JOBS,
  jobSubject,
  parseJobSubject,
  parseSessionId,
  Retention,
  STREAM,
  topology,
} from "../src/index.js";

const keyOf = (text: string) => {
  const parsed = parseSessionId(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
};

test.each(["http:a", "telegram:42", "http:a.b *>", "cli:北京"])(
  "a job's subject says whose and of what kind: %j",
  (id) => {
    for (const kind of JOB_KINDS) {
      expect(parseJobSubject(jobSubject(kind, keyOf(id)))).toEqual({ kind, key: keyOf(id) });
    }
  },
);

test.each(["job.consolidation.http", "job.consolidation.http.a.b", "job.nonsense.http.a", "task.review.http.a", ""])(
  "%j is no job's subject",
  (subject) => expect(parseJobSubject(subject)).toBeUndefined(),
);

test.each([
  ["a kind that is not known", { kind: "nonsense" }, "kind"],
  ["no generation", { generation: undefined }, "generation"],
  ["a session that is no key", { session: "nowhere" }, "session"],
])("K10 a job with %s is refused by name", (_name, change, place) => {
  const job = { v: 1, id: "j", kind: "review", session: keyOf("http:a"), generation: 0, ...change };
  const read = decode(Job, JSON.stringify(job));
  expect(read.kind === "invalid" ? read.reason : read.kind).toContain(place);
});

test("every kind has one consumer of its own, and no subject belongs to two: a work queue refuses that", () => {
  const consumers = topology(Retention.parse({})).consumers.filter(({ stream }) => stream === STREAM.jobs);
  expect(consumers.map(({ name }) => name)).toEqual(JOB_KINDS.map((kind) => JOBS[kind].consumer));
  const takes = (filter: string, subject: string): boolean => subject.startsWith(filter.replace(/>$/, ""));
  for (const kind of JOB_KINDS) {
    const subject = jobSubject(kind, keyOf("http:a"));
    expect(consumers.filter(({ filter }) => takes(filter, subject)).map(({ name }) => name)).toEqual([
      JOBS[kind].consumer,
    ]);
  }
  // A kind is a token, or its subject would be another one.
  for (const kind of JOB_KINDS) expect(encodeToken(kind)).toEqual({ ok: true, token: kind });
});
