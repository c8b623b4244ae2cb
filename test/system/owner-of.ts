import type { ServiceProcess, TroupeSystem } from "@troupe/testkit";
import type { Conversation } from "./conversation.js";

/** The orchestrator that holds a session's lease now. */
export async function ownerOf(system: TroupeSystem, chat: Conversation): Promise<ServiceProcess> {
  const { lease } = await chat.until("somebody holds the lease", (view) => view.lease !== null);
  for (const service of system.orchestrators) {
    if (!service.isRunning) continue;
    const id = await service.field("orchestrator ready", "processId");
    if (lease?.owner.startsWith(`${String(id)}-`) === true) return service;
  }
  throw new Error(`no orchestrator that runs is the owner ${lease?.owner}`);
}
