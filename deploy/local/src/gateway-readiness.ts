import { settingOf } from "@troupe/jetstream";
import { z } from "zod";
import { broken, degraded, type Finding, well } from "./finding.js";
import { askHttp } from "./http-question.js";

/** What a gateway says of itself, as far as it is read here. */
const Readiness = z.object({
  ready: z.boolean(),
  phase: z.string(),
  components: z.record(
    z.string(),
    z.object({ state: z.enum(["ok", "degraded", "down"]), detail: z.string().optional() }),
  ),
});
type Component = z.infer<typeof Readiness>["components"][string];

const STORE = "store ";

/**
 * Everything that a gateway reports and that is not well.
 *
 * @param url the gateway's address
 * @throws Error with one line when it does not answer
 */
export async function inspectGateway(url: string): Promise<readonly Finding[]> {
  const where = `${url}/readyz`;
  const response = await askHttp(where);
  const read = Readiness.safeParse(await response.json().catch(() => undefined));
  if (!read.success)
    return [broken(`${where} answered ${response.status}`, "another server may have the port: TROUPE_HTTP_PORT")];
  const { ready, phase, components } = read.data;
  const findings = Object.entries(components).flatMap(([name, component]) => judge(name, component));
  if (findings.length > 0) return findings;
  if (ready) return [well(url)];
  return [broken(`it is ${phase}`, phase === "starting" ? "wait, or look at its log" : "start it again: npm start")];
}

function judge(name: string, { state, detail }: Component): Finding[] {
  if (state === "ok") return [];
  const text = `${name} is ${detail ?? state}`;
  // Messages are refused then, which is all that people notice.
  if (name.startsWith(STORE)) return [broken(text, adviceForStore(name.slice(STORE.length)))];
  const advice = name === "nats" ? "see NATS below: npm start runs a server" : "look at the gateway's log";
  return [state === "down" ? broken(text, advice) : degraded(text, advice)];
}

function adviceForStore(store: string): string {
  return `raise ${settingOf(store)} in troupe.yaml and start again, or erase sessions: DELETE /v1/sessions/{s}`;
}
