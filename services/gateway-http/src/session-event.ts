import type { ConversationEvent } from "@troupe/channel-kit";

/** An event in the form of `text/event-stream`; durable ones carry their sequence, by which a reader resumes. */
export function eventFrame(event: ConversationEvent): string {
  if (event.kind === "live") return sseFrame(event.event.kind, event.event.data);
  const { message, seq } = event;
  switch (message.kind) {
    case "final":
      return sseFrame("final", message.final, seq);
    case "notice":
      return sseFrame("notice", message.notice, seq);
  }
}

/** JSON holds no raw line break, so one `data` line does. */
export function sseFrame(event: string, data: unknown, id?: number): string {
  const head = id === undefined ? `event: ${event}\n` : `event: ${event}\nid: ${id}\n`;
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}
