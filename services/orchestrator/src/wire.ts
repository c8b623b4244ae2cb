import { randomBytes } from "node:crypto";
import type { SessionKey } from "@troupe/contracts";
import {
  blobStore,
  type Bus,
  livePublisher,
  mailPort,
  ownerPort,
  publishPort,
  ringBells,
  segmentStore,
  statePort,
} from "@troupe/jetstream";
import { Host, HOST_DEFAULTS } from "@troupe/kernel";
import { FullStores, type ServiceContext } from "@troupe/platform";
import { asStartError, openBus } from "@troupe/service-bus";
import { sessionActor, type SessionOutcome, type SessionRun } from "@troupe/session";
import type { SessionFields, SessionMail } from "@troupe/contracts";
import { echo, now, readBlob, Toolbox } from "@troupe/tools";
import type { OrchestratorConfig } from "./config.js";
import type { ModelRouter } from "./model/model-router.js";
import { openModelRouter } from "./model/open-model-router.js";
import { reportModel } from "./model-report.js";
import { kernelObserver, orchestratorMetrics } from "./orchestrator-metrics.js";
import { sweepNowAndThen } from "./orphan-sweep.js";
import { sessionRules } from "./session-rules.js";
import { SessionRunner } from "./session-runner.js";
import { systemClock } from "./system-clock.js";
import { TurnVoice } from "./turn-voice.js";

type Context = ServiceContext<OrchestratorConfig>;
type SessionHost = Host<SessionFields, SessionMail, SessionRun, SessionOutcome>;

/** Doorbells in hand at once: sessions this process works on side by side, more or less. */
const MAX_BELLS = 512;
/**
 * What ends by itself may take four seconds; the rest is handed over at commits, which fail only where the server is
 * away. With what the other parts take at most, all of it is done within the nine seconds of a process.
 */
const DRAIN = { graceMs: 4_000, handOverMs: 1_500 };

export async function wire(context: Context): Promise<void> {
  const { config, log, health, open } = context;
  const bus = await openBus(context, "orchestrator");
  void reportModel(context);
  const processId = `o${randomBytes(8).toString("hex")}`;
  const owners = ownerPort(bus);
  const model = await asStartError(() => openModelRouter(context, bus));
  const desk: Pick<SessionHost, "take"> = { take: () => false };
  // Opened before the host, so that it closes after it: an owner that drains still answers, and keeps its turns.
  await open(
    "owner desk",
    () => owners.serve(processId, (owner, bell) => desk.take(owner, bell)),
    (stop) => stop(),
  );
  const host = await open(
    "session host",
    () => createHost(context, bus, { processId, owners, model }),
    async (opened) => {
      const left = await opened.drain(DRAIN);
      if (left > 0) log.warn({ sessions: left }, "could not hand over what is under way: others wait for its lease");
    },
  );
  desk.take = (owner, bell) => host.take(owner, bell);
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
  await open(
    "orphan sweep",
    async () => sweepNowAndThen(bus, log),
    (stop) => stop(),
  );
  health.set("doorbells", "ok");
  log.info({ processId, model: config.models.default }, "orchestrator ready");
}

function createHost(
  { config, log, metrics, health }: Context,
  bus: Bus,
  { processId, owners, model }: { processId: string; owners: ReturnType<typeof ownerPort>; model: ModelRouter },
): SessionHost {
  const toolbox = new Toolbox([now, echo, readBlob]);
  const rules = sessionRules(config, toolbox);
  const measured = orchestratorMetrics(metrics);
  const [segments, blobs] = [segmentStore(bus), blobStore(bus)];
  const runs = new SessionRunner({
    model,
    context: { ...config.agent, windowTokens: config.turn.contextTokens },
    toolbox,
    blobs,
    segments,
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
      segments,
      blobs,
      publish: publishPort(bus),
      owner: owners,
      runs,
      clock: systemClock,
      observe: kernelObserver(measured, log, new FullStores({ log, metrics, health })),
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
