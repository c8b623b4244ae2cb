import { type ModelOutcome, type ModelRequest, Retention, topology } from "@troupe/contracts";
import { interpret } from "@troupe/inference";
import { type Bus, connectBus, type ProviderPause, providerPauses, provision } from "@troupe/jetstream";
import { createOpenAiModel } from "@troupe/model-openai";
import { createLogger, createMetrics, delay, type Metrics } from "@troupe/platform";
import { type NatsServer, type ScriptedModel, startNats, startScriptedModel } from "@troupe/testkit";
import { modelMetrics } from "../../src/model/model-metrics.js";
import { type CallOptions, type ModelRole, ModelRouter, type RequestForm } from "../../src/model/model-router.js";
import { ROUTER_RULES, type RouterRules } from "../../src/model/router-rules.js";

/** The real rules, but for back-offs and cool-downs that a test does not want to wait for. */
export const QUICK: RouterRules = {
  retry: { ...ROUTER_RULES.retry, firstMs: 4, longestMs: 16 },
  wait: { ...ROUTER_RULES.wait, probeLookMs: 10 },
  breaker: { ...ROUTER_RULES.breaker, firstCoolDownMs: 60, longestCoolDownMs: 240 },
};

export interface ProcessOptions {
  /** `<provider>/<model>`, of `near` and `far`. */
  readonly answer?: readonly string[];
  readonly consolidation?: readonly string[];
  readonly rules?: RouterRules;
  /** Silence that counts as a stall. */
  readonly stallMs?: number;
  /** Stands in for the address of `near`. */
  readonly nearUrl?: string;
}

/** A router as one process has it. */
export interface RouterProcess {
  readonly router: ModelRouter;
  readonly nearPause: () => ProviderPause | undefined;
  readonly metrics: Metrics;
  /** When its waiting calls meant to go on. */
  readonly wakes: readonly number[];
}

export interface Asked {
  readonly outcome: ModelOutcome;
  /** What the turn's final would say: a code, or how the answer is read. */
  readonly end: string;
  /** Previews and resets in order. */
  readonly seen: readonly string[];
}

/** A server with everything that the topology declares. */
export async function startTopology(): Promise<NatsServer> {
  const nats = await startNats();
  const bus = await connectBus({ target: nats, name: "test" });
  await provision(bus, topology(Retention.parse({})));
  await bus.close();
  return nats;
}

/** NATS and two model servers, `near` and `far`; all of it real but for what the models say. */
export class RouterWorld {
  readonly near: ScriptedModel;
  readonly far: ScriptedModel;
  readonly #nats: NatsServer;
  readonly #closing: (() => Promise<unknown>)[] = [];

  private constructor(nats: NatsServer, near: ScriptedModel, far: ScriptedModel) {
    this.#nats = nats;
    this.near = near;
    this.far = far;
  }

  /** Worlds on one server have nothing in common: their models' addresses differ. */
  static async start(nats: NatsServer): Promise<RouterWorld> {
    const [near, far] = await Promise.all([startScriptedModel(), startScriptedModel()]);
    return new RouterWorld(nats, near, far);
  }

  async connect(): Promise<Bus> {
    const bus = await connectBus({ target: this.#nats, name: "test" });
    this.onStop(() => bus.close());
    return bus;
  }

  /** Done by `stop`, the last one first. */
  onStop(close: () => Promise<unknown>): void {
    this.#closing.unshift(close);
  }

  async process(options: ProcessOptions = {}): Promise<RouterProcess> {
    const {
      answer = ["near/m"],
      consolidation = answer,
      rules = QUICK,
      nearUrl = this.near.url,
      stallMs = 30_000,
    } = options;
    const pauses = providerPauses(await this.connect(), { onPause: () => undefined, onTrouble: () => undefined });
    const identities = { near: `near ${this.near.url}`, far: `far ${this.far.url}` };
    const running = await pauses.start(Object.values(identities));
    this.onStop(() => running.stop());
    const metrics = createMetrics("test");
    const wakes: number[] = [];
    const provider = (identity: string, baseUrl: string) => ({
      identity,
      client: createOpenAiModel({ baseUrl, apiKey: "k", stallMs }),
    });
    const router = new ModelRouter({
      providers: new Map([
        ["near", provider(identities.near, nearUrl)],
        ["far", provider(identities.far, this.far.url)],
      ]),
      chains: { answer: answer.map(target), consolidation: consolidation.map(target) },
      pauses,
      rules,
      clock: {
        now: () => performance.now(),
        sleep: (ms, signal) => {
          wakes.push(performance.now() + ms);
          return delay(ms, signal).catch(() => undefined);
        },
        random: Math.random,
      },
      log: createLogger({ service: "test", level: "silent" }),
      metrics: modelMetrics(metrics, ["near"], () => pauses.of(identities.near)),
    });
    return { router, metrics, wakes, nearPause: () => pauses.of(identities.near) };
  }

  async stop(): Promise<void> {
    for (const close of this.#closing) await close();
    await Promise.all([this.near.close(), this.far.close()]);
  }
}

const target = (name: string) => {
  const [provider = "", model = ""] = name.split("/");
  return { provider, model };
};

/** A conversation of eight messages, or as many of them as may be shown. */
export function conversation({ model, windowShare }: RequestForm): ModelRequest {
  const messages = Array.from({ length: 8 * windowShare }, (_, n) => ({ role: "user" as const, content: `line ${n}` }));
  return { model, messages, tools: [] };
}

export type AskOptions = Partial<CallOptions> & { readonly role?: ModelRole; readonly text?: string };

/** One model call of a turn. */
export async function ask({ router }: RouterProcess, options: AskOptions = {}): Promise<Asked> {
  const { role = "answer", text, ...more } = options;
  const seen: string[] = [];
  const build = (form: RequestForm): ModelRequest =>
    text === undefined
      ? conversation(form)
      : { model: form.model, messages: [{ role: "user", content: text }], tools: [] };
  const outcome = await router.complete(role, build, {
    signal: new AbortController().signal,
    onText: (piece) => seen.push(piece),
    onReset: (reason) => seen.push(`<${reason}>`),
    ...more,
  });
  return { outcome, end: endOf(outcome), seen };
}

function endOf(outcome: ModelOutcome): string {
  if (outcome.kind === "aborted") return "aborted";
  const result = interpret(outcome, { taken: new Set(), isWhole: true, prefix: "c" });
  if (result.kind === "failed") return `${result.code}${result.retryable ? ", may be tried again" : ""}`;
  return result.kind === "answer" ? result.text : result.kind;
}
