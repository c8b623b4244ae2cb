import { Admission, MessageInbox, openBus, tellingFull, UnreadReplies } from "@troupe/channel-kit";
import {
  type Bus,
  blobStore,
  deadLetters,
  deadReplies,
  forget,
  inboundLedger,
  liveSubscriber,
  mailPort,
  mailSender,
  type OutboxEvent,
  outboxFeed,
  segmentStore,
  sessionReader,
  storeLevels,
} from "@troupe/jetstream";
import { ensureToken, FullStores, type ServiceContext } from "@troupe/platform";
import type { FastifyInstance } from "fastify";
import type { GatewayConfig } from "./config.js";
import type { Gateway } from "./gateway.js";
import { gatewayMetrics } from "./gateway-metrics.js";
import { closeServer, createHttpServer, listen } from "./http-server.js";
import { LongRequests } from "./long-requests.js";
import { addRoutes } from "./method-refusal.js";
import { addChatRoutes } from "./openai/chat-route.js";
import { addDeadRoutes } from "./routes/dead.js";
import { addEventRoute } from "./routes/events.js";
import { addMessageRoutes } from "./routes/messages.js";
import { addServicePages } from "./routes/service-pages.js";
import { addSessionRoutes } from "./routes/sessions.js";
import { TokenGate } from "./token-gate.js";

type Context = ServiceContext<GatewayConfig>;

/** Whose gateway this is. */
const CHANNEL = "http";

/** The model's name under which clients that know no other may ask. */
const ANY_MODEL = "troupe";

/** Opens the gateway's parts in order; resolves when it serves. */
export async function wire(context: Context): Promise<void> {
  const { config, log, open } = context;
  const token = await ensureToken(config);
  const bus = await openBus(context, "gateway-http");
  const gateway = createGateway(context, bus);
  await open(
    "room for messages",
    () => gateway.admission.start(),
    () => gateway.admission.stop(),
  );
  await open(
    "replies that cannot be read",
    async () => gateway.unread,
    (unread) => unread.stop(),
  );
  await open(
    "outbox feed",
    () => gateway.outbox.start(),
    (feed) => feed.stop(),
  );
  const app = createApp(context, gateway, token);
  const port = await open(
    "HTTP server",
    () => listen(app, config.http.host, config.http.port),
    () => closeServer(app, gateway.long),
  );
  log.info({ host: config.http.host, port }, "HTTP gateway open");
  tellAddress(config.http.host, port);
}

/** Tells whoever started this process where it listens: with port 0 nobody else knows. */
function tellAddress(host: string, port: number): void {
  const own = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  const url = `http://${own.includes(":") ? `[${own}]` : own}:${port}`;
  if (process.connected) process.send?.({ url }, undefined, undefined, () => {});
}

/** What the routes work with, on one connection. */
export function createGateway({ log, metrics, health }: Context, bus: Bus): Gateway {
  const stores = new FullStores({ log, metrics, health });
  const mail = tellingFull(mailSender(bus), stores);
  const sessions = sessionReader(bus);
  const unread = new UnreadReplies(deadReplies(bus), { log, metrics });
  // Of other channels the process that serves them looks after what cannot be read.
  const look = (event: OutboxEvent): void => {
    if (event.key.startsWith(`${CHANNEL}.`)) unread.look(event);
  };
  const outbox = outboxFeed(bus, { onEvent: look });
  const segments = segmentStore(bus);
  const blobs = blobStore(bus);
  const admission = new Admission({ levels: (buckets) => storeLevels(bus, buckets), stores });
  return {
    log,
    metrics: gatewayMetrics(metrics),
    sessions,
    segments,
    blobs,
    mail,
    mailbox: mailPort(bus, "session"),
    outbox,
    onUnread: look,
    live: liveSubscriber(bus),
    inbox: new MessageInbox({ mail, ledger: inboundLedger(bus), sessions, outbox, segments, blobs, admission, log }),
    admission,
    dead: deadLetters(bus, { channel: CHANNEL }),
    unread,
    forget: (key) => forget(bus, key),
    long: new LongRequests(),
    connected: () => bus.connected(),
  };
}

/** The server with all its routes. */
export function createApp({ config, log, health, metrics }: Context, gateway: Gateway, token: string): FastifyInstance {
  const gate = new TokenGate(token);
  const app = createHttpServer({
    rules: { source: config.http, gate },
    log,
    metrics: gateway.metrics,
    long: gateway.long,
    connected: gateway.connected,
  });
  addRoutes(app, () => {
    addServicePages(app, { gate, health, metrics });
    addMessageRoutes(app, gateway);
    addSessionRoutes(app, gateway);
    addEventRoute(app, gateway);
    addDeadRoutes(app, gateway);
    addChatRoutes(app, gateway, [...new Set([config.models.default, ANY_MODEL])]);
  });
  return app;
}
