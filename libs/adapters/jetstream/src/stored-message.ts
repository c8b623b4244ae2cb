import type { Msg } from "@nats-io/transport-node";
import { z } from "zod";
import { textOf, type Wire } from "./wire.js";
import { ApiError } from "./wire-error.js";

/** Reads of single messages and of batches, each one round trip. */
export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  /** When the stream took it in, milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

export interface BatchQuery {
  readonly stream: string;
  /** Literal wherever haste counts: with a wildcard the server may scan the stream. */
  readonly subject: string;
  readonly from: number;
  readonly limit: number;
}

export type LeaderQuery =
  | { readonly seq: number }
  /** The first one of a subject from a sequence on. */
  | { readonly seq: number; readonly next_by_subj: string }
  | { readonly last_by_subj: string };

const NOT_FOUND = 404;
const NO_MESSAGE_FOUND = 10037;
/** Bytes of one batch; the server sends at least one message, so a batch always gets on. */
const BATCH_BYTES = 8 * 1024 * 1024;

const LeaderAnswer = z.union([
  z.object({ error: z.object({ err_code: z.number(), description: z.string().default("") }) }),
  z.object({
    message: z.object({ subject: z.string(), seq: z.number(), time: z.string(), data: z.string().default("") }),
  }),
]);

/** The newest message of a subject from whichever replica answers; it may lag. */
export async function readLast(wire: Wire, stream: string, subject: string): Promise<StoredMessage | null> {
  const reply = await wire.ask({ subject: `$JS.API.DIRECT.GET.${stream}.${subject}`, payload: "" });
  const status = reply.headers?.code ?? 0;
  if (status === 0) return storedIn(reply);
  if (status === NOT_FOUND) return null;
  throw new ApiError(status, stream, reply.headers?.description ?? "");
}

export interface Batch {
  readonly messages: readonly StoredMessage[];
  /** Whether the replica that answered has more of them, and how many. */
  readonly more: boolean;
  readonly left: number;
}

/** The messages of one subject from `from` on, in order; a prefix of them, perhaps not the newest. */
export async function readBatch(wire: Wire, query: BatchQuery): Promise<Batch> {
  const { stream, subject, from, limit } = query;
  const payload = JSON.stringify({
    seq: Math.max(1, from),
    next_by_subj: subject,
    batch: limit,
    max_bytes: BATCH_BYTES,
  });
  const replies = await wire.askMany({ subject: `$JS.API.DIRECT.GET.${stream}`, payload, batch: true });
  const end = replies.pop()?.headers;
  if (end?.code !== 204 && end?.code !== NOT_FOUND) {
    throw new ApiError(end?.code ?? 0, stream, end?.description ?? "");
  }
  const left = Number(end.get("Nats-Num-Pending") || "0");
  return { messages: replies.map(storedIn), more: left > 0, left };
}

/** One message from the stream's leader, which has every message that is there. */
export async function readFromLeader(wire: Wire, stream: string, query: LeaderQuery): Promise<StoredMessage | null> {
  const reply = await wire.ask({ subject: `$JS.API.STREAM.MSG.GET.${stream}`, payload: JSON.stringify(query) });
  const answer = LeaderAnswer.parse(JSON.parse(textOf(reply)));
  if ("error" in answer) {
    if (answer.error.err_code === NO_MESSAGE_FOUND) return null;
    throw new ApiError(answer.error.err_code, stream, answer.error.description);
  }
  const { subject, seq, time, data } = answer.message;
  return { seq, subject, at: Date.parse(time), text: Buffer.from(data, "base64").toString("utf8") };
}

function storedIn(reply: Msg): StoredMessage {
  const header = (name: string): string => reply.headers?.last(name) ?? "";
  const seq = Number(header("Nats-Sequence"));
  const at = Date.parse(header("Nats-Time-Stamp"));
  if (!(seq > 0) || Number.isNaN(at)) throw new ApiError(0, reply.subject, "an answer without sequence and time");
  return { seq, subject: header("Nats-Subject"), at, text: textOf(reply) };
}
