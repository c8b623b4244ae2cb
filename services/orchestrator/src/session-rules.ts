import { type Channel, CHANNELS, type SessionKey, sessionOfKey } from "@troupe/contracts";
import { introductionOf } from "@troupe/response";
import type { TurnRules } from "@troupe/session";
import type { Toolbox } from "@troupe/tools";
import type { OrchestratorConfig } from "./config.js";

/** The rules of each channel's sessions, made once. */
export function sessionRules(config: OrchestratorConfig, toolbox: Toolbox): (key: SessionKey) => TurnRules {
  const { agent, channels, introduction, turn } = config;
  const byChannel = new Map<Channel, TurnRules>(
    CHANNELS.map((channel) => [
      channel,
      {
        limits: turn,
        toolbox,
        secondMessage: channels[channel]?.secondMessage ?? "queue",
        introduction: introductionOf(introduction, agent, channel),
        windowTokens: turn.contextTokens,
      },
    ]),
  );
  return (key) => {
    const channel = sessionOfKey(key)?.id.channel ?? "http";
    const rules = byChannel.get(channel);
    if (rules === undefined) throw new Error(`no rules for channel ${channel}`);
    return rules;
  };
}
