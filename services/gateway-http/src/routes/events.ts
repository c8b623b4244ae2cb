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
      const named = request.headers["last-event-id"] ?? request.query.lastEventId;
      // A browser that has had no event yet sends an empty one.
      const lastEventId = named === "" ? undefined : named;
      const after = readFields(LastEventId, { lastEventId }).lastEventId ?? null;
      if (!gateway.connected()) throw unavailable(null);
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
