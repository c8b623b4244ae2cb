import { randomBytes } from "node:crypto";
import { type SessionKey, topology } from "@troupe/contracts";
import {
  blobStore,
  type Bus,
  BusError,
  connectBus,
  livePublisher,
  mailPort,
  ownerPort,
  provision,
  publishPort,
  ringBells,
  segmentStore,
  statePort,
} from "@troupe/jetstream";
import { Host, HOST_DEFAULTS } from "@troupe/kernel";
import { probeModel } from "@troupe/model-openai";
import { type ServiceContext, StartError } from "@troupe/platform";
import { sessionActor, type SessionOutcome, type SessionRun } from "@troupe/session";
import type { SessionFields, SessionMail } from "@troupe/contracts";
import { echo, now, readBlob, Toolbox } from "@troupe/tools";
import type { OrchestratorConfig } from "./config.js";
import type { ModelRouter } from "./model/model-router.js";
import { openModelRouter } from "./model/open-model-router.js";
import { kernelObserver, orchestratorMetrics } from "./orchestrator-metrics.js";
import { sessionRules, WINDOW_TOKENS } from "./session-rules.js";
import { SessionRunner } from "./session-runner.js";
import { systemClock } from "./system-clock.js";
import { TurnVoice } from "./turn-voice.js";

type Context = ServiceContext<OrchestratorConfig>;
type SessionHost = Host<SessionFields, SessionMail, SessionRun, SessionOutcome>;

/** Doorbells in hand at once: sessions this process works on side by side, more or less. */
const MAX_BELLS = 512;
/** What drains by itself may take this long; the rest is handed over. */
const DRAIN_GRACE_MS = 5_000;

export async function wire(context: Context): Promise<void> {
  const { config, log, health, open } = context;
  const bus = await open(
    "connection to NATS",
    () => connect(context),
    (opened) => opened.close(),
  );
  await open("streams and buckets", () => asStartError(() => provision(bus, topology(config.retention))));
  void reportModel(context);
  const processId = `o${randomBytes(8).toString("hex")}`;
  const owners = ownerPort(bus);
  const model = await asStartError(() => openModelRouter(context, bus));
  const host = await open(
    "session host",
    () => createHost(context, bus, { processId, owners, model }),
    (opened) => opened.drain(DRAIN_GRACE_MS),
  );
  await open(
    "owner desk",
    () => owners.serve(processId, (owner, bell) => host.take(owner, bell)),
    (stop) => stop(),
  );
  await open(
    "doorbells",
    () =>
      ringBells(bus, {
        actor: "session",
        maxInFlight: MAX_BELLS,
        onBell: (bell) => host.ring(bell),
        onTrouble: (line) => log.warn(line),
      }),
    (bells) => bells.stop(),
  );
  health.set("doorbells", "ok");
  log.info({ processId, model: config.models.default }, "orchestrator ready");
}

function createHost(
  { config, log, metrics }: Context,
  bus: Bus,
  { processId, owners, model }: { processId: string; owners: ReturnType<typeof ownerPort>; model: ModelRouter },
): SessionHost {
  const toolbox = new Toolbox([now, echo, readBlob]);
  const rules = sessionRules(config, toolbox);
  const measured = orchestratorMetrics(metrics);
  const runs = new SessionRunner({
    model,
    context: { ...config.agent, windowTokens: WINDOW_TOKENS },
    toolbox,
    blobs: blobStore(bus),
    segments: segmentStore(bus),
    voice: new TurnVoice(livePublisher(bus)),
    log,
    metrics: measured,
  });
  const host: SessionHost = new Host({
    processId,
    actorOf: (key) => sessionActor(key as SessionKey, rules(key as SessionKey)),
    options: HOST_DEFAULTS,
    ports: {
      state: statePort(bus),
      mail: mailPort(bus, "session"),
      segments: segmentStore(bus),
      publish: publishPort(bus),
      owner: owners,
      runs,
      clock: systemClock,
      observe: kernelObserver(measured, log),
    },
  });
  metrics.gauge({
    name: "troupe_active_sessions",
    help: "Sessions that this process hosts now",
    collect() {
      this.set(host.size);
    },
  });
  return host;
}

async function connect({ config, log, health }: Context): Promise<Bus> {
  const { creds, ...target } = config.nats;
  const credsFile = creds === undefined ? {} : { credsFile: creds };
  const bus = await asStartError(() => connectBus({ target: { ...target, ...credsFile }, name: "orchestrator" }));
  health.set("nats", "ok");
  bus.onStatus((status, detail) => {
    health.set("nats", status === "connected" ? "ok" : "down");
    log.warn({ detail }, `NATS ${status}`);
  });
  return bus;
}

/** What the bus cannot do is a sentence for a person already. */
async function asStartError<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof BusError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** Says at the start what would otherwise be found out by the first person who asks something. */
async function reportModel({ config, log }: Context): Promise<void> {
  const { baseUrl, apiKey } = config.provider;
  const probe = await probeModel({ apiKey, ...(baseUrl === undefined ? {} : { baseUrl }) });
  const model = config.models.default;
  if (probe.kind === "unauthorized")
    log.error(`the model service refuses the key: check OPENAI_API_KEY (${probe.detail})`);
  else if (probe.kind === "unreachable")
    log.error(`the model service cannot be reached: check OPENAI_BASE_URL (${probe.detail})`);
  else if (probe.kind === "ok" && probe.models.length > 0 && !probe.models.includes(model)) {
    log.warn(
      `the model service does not list "${model}": set TROUPE_MODEL to one of ${probe.models.slice(0, 5).join(", ")}`,
    );
  }
}
