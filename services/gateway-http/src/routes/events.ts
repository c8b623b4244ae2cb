import type { OutboxFeed } from "@troupe/jetstream";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { streamEvents } from "../event-stream.js";
import type { Gateway } from "../gateway.js";
import { readFields } from "../problem.js";
import { unavailable } from "../problem-mapping.js";
import { sessionRef } from "../session-access.js";
import { SseResponse } from "../sse-response.js";
import type { SessionPath } from "./session-path.js";

const FORM = "expected the id of an event, a whole number";
const LastEventId = z.object({
  lastEventId: z
    .string(FORM)
    .regex(/^\d{1,15}$/, FORM)
    .transform(Number)
    .optional(),
});

/** The event stream of a session; of one that does not exist yet it opens and waits. */
export function addEventRoute(app: FastifyInstance, gateway: Gateway): void {
  app.get<SessionPath & { Querystring: Record<string, unknown> }>(
    "/v1/sessions/:session/events",
    // HEAD would open a stream that nobody reads.
    { exposeHeadRoute: false },
    async (request, reply) => {
      const { key } = sessionRef(request.params.session);
      // A browser that has had no event yet sends an empty one.
      const given = request.headers["last-event-id"] ?? request.query.lastEventId;
      const named = readFields(LastEventId, { lastEventId: given === "" ? undefined : given }).lastEventId;
      if (!gateway.connected()) throw unavailable(null);
      const after = named === undefined ? null : await knownPlace(gateway.outbox, named);
      reply.hijack();
      const out = new SseResponse(reply.raw);
      try {
        await streamEvents(gateway, key, after, out);
      } catch (err) {
        // The head is out: the client comes back by itself and resumes where it was.
        gateway.log.warn({ err, key }, "an event stream could not be resumed");
        out.end();
      }
    },
  );
}

/**
 * Where a reader was. Events that never were cannot have been read: such an id is of a stream that has been made anew
 * since, and waiting for its place would keep back all that happens from now on.
 */
async function knownPlace(outbox: OutboxFeed, named: number): Promise<number> {
  return named <= outbox.lastSeq() ? named : Math.min(named, await outbox.newestSeq());
}
