import {
  ACCEPTED_ORIGINS,
  type BucketSpec,
  deliveryConsumer,
  JOB_KINDS,
  JOBS,
  jobSubject,
  type SessionKey,
  type StreamSpec,
  type Topology,
} from "../src/index.js";

/** `docs/subjects.md`, made from the topology as data. */
export function subjectsDocument(topology: Topology): string {
  const consumers = [...topology.consumers, deliveryConsumer("<channel>")];
  return [
    "# Streams, buckets and subjects",
    "",
    "Made from `libs/contracts/src/topology.ts` by `npm run docs`; do not edit. Limits are those of the default `retention`.",
    "",
    "A key is two tokens, `<channel>.<conversation>`; `telegram:42` is `telegram.42`. Text of any kind is encoded into a token reversibly (`libs/contracts/src/token.ts`).",
    "",
    "## Streams",
    "",
    ...table(
      ["stream", "subjects", "kind", "when full", "age", "size", "holds"],
      topology.streams.map((stream) => [
        code(stream.name),
        stream.subjects.map(code).join(" "),
        kindOf(stream),
        stream.discard === "new" ? "refuses" : "drops the oldest",
        age(stream.maxAgeMs),
        size(stream.maxBytes),
        stream.holds,
      ]),
    ),
    "",
    ...topology.streams.map((stream) => `- ${code(stream.name)}: ${stream.reason}`),
    "",
    "## Consumers",
    "",
    ...table(
      ["consumer", "stream", "filter", "ack wait", "max deliver", "max ack pending"],
      consumers.map((consumer) => [
        code(consumer.name),
        code(consumer.stream),
        code(consumer.filter),
        `${consumer.ackWaitMs / 1000} s`,
        String(consumer.maxDeliver),
        String(consumer.maxAckPending),
      ]),
    ),
    "",
    ...consumers.map((consumer) => `- ${code(consumer.name)}: ${consumer.reason}`),
    "",
    "## Buckets",
    "",
    ...table(["bucket", "key", "entries live", "size", "holds", "reason"], topology.buckets.map(bucketRow)),
    "",
    "## Object stores",
    "",
    ...table(
      ["store", "size", "holds", "reason"],
      topology.objectStores.map((store) => [code(store.name), size(store.maxBytes), store.holds, store.reason]),
    ),
    "",
    "## Core subjects",
    "",
    "`live.<channel>.<conversation>` carries previews and `owner.<process>` offers doorbells to the owner of a lease. Both may be lost; nothing relies on them. `ending.<channel>.<conversation>.<turn>` asks the process of a channel that shows a turn's previews to show no more, before another one sends its reply.",
    "",
    "## Mail to a session",
    "",
    ...table(
      ["kind", "accepted from"],
      Object.entries(ACCEPTED_ORIGINS).map(([kind, origins]) => [code(kind), origins.map(code).join(", ")]),
    ),
    "",
    "From any other origin it is dead-lettered.",
    "",
    "## Jobs",
    "",
    ...table(
      ["subject", "consumer", "the job"],
      JOB_KINDS.map((kind) => [
        code(jobSubject(kind, "<channel>.<conversation>" as SessionKey)),
        code(JOBS[kind].consumer),
        JOBS[kind].does,
      ]),
    ),
    "",
    "One of a kind and session waits at a time. A kind whose work nobody does yet is not emitted.",
    "",
  ].join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

function kindOf(stream: StreamSpec): string {
  const extras = [stream.onePerSubject ? "one message per subject" : "", stream.schedules ? "schedules" : ""].filter(
    (extra) => extra !== "",
  );
  return [stream.retention === "workqueue" ? "work queue" : "limits", ...extras].join(", ");
}

function bucketRow(bucket: BucketSpec): string[] {
  return [code(bucket.name), code(bucket.key), age(bucket.ttlMs), size(bucket.maxBytes), bucket.holds, bucket.reason];
}

const code = (text: string): string => `\`${text}\``;

function age(ms: number): string {
  if (ms === 0) return "for ever";
  const hours = ms / 3_600_000;
  return hours % 24 === 0 && hours > 24 ? `${hours / 24} d` : `${hours} h`;
}

function size(bytes: number): string {
  if (bytes < 0) return "no limit";
  const mib = bytes / 1024 / 1024;
  return mib % 1024 === 0 ? `${mib / 1024} GiB` : `${mib} MiB`;
}
