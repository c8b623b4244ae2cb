import type { Channel as ChannelName } from "@troupe/contracts";
import type { OutboxEvent } from "@troupe/jetstream";
import type { Logger, Metrics } from "@troupe/platform";
import type { Reply } from "../channel.js";
import type { AttemptEnd } from "./delivery.js";

/** Told what became of an attempt. */
export type DeliveryReport = (reply: Omit<Reply, "attempt">, event: OutboxEvent, end: AttemptEnd) => void;

/** A reply that has been tried so often is not held up by a passing trouble; it is said again after so many more. */
const LONG_TRIED = { first: 10, every: 50 };

/** Says what became of each reply; what a person has to look at is a warning. */
export function deliveryReport(log: Logger, metrics: Metrics, channel: ChannelName): DeliveryReport {
  const deliveries = metrics.counter({
    name: "troupe_deliveries_total",
    help: "Replies by what became of them: confirmed, rejected, unsettled, or retried",
    labelNames: ["channel", "outcome"],
  });
  return ({ id, session, turn }, { key, seq }, end) => {
    if (end.kind !== "again" && end.kind !== "settled") return;
    deliveries.inc({ channel, outcome: end.kind === "again" ? "retried" : end.as });
    const { reason, attempt } = end;
    const fields = { session, turn, reply: id, key, seq, attempt, reason };
    if (end.kind === "again") {
      const line = end.isDoubtful
        ? "nobody can tell whether a reply was shown; it is sent again, which does no harm"
        : "a reply was not sent; it will be tried again";
      if (isLongTried(attempt)) log.warn(fields, `${line}; it has been tried for long`);
      else log.info(fields, line);
    } else if (end.as === "rejected") log.warn(fields, "the channel will not take a reply");
    else if (end.as === "unsettled") {
      log.warn(fields, "nobody can tell whether a reply was shown; it is not sent again");
    } else if (end.wasUnsettled) log.info(fields, "a reply of which nobody could tell has been shown after all");
  };
}

function isLongTried(attempt: number): boolean {
  return attempt >= LONG_TRIED.first && (attempt - LONG_TRIED.first) % LONG_TRIED.every === 0;
}
