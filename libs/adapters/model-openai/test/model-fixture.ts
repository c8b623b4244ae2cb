import type { ModelOutcome, ModelRequest } from "@troupe/contracts";
import { type ScriptedModel, type ScriptedReply, startScriptedModel } from "@troupe/testkit";
import { expect } from "vitest";
import { createOpenAiModel, type OpenAiModelOptions } from "../src/index.js";

export const apiKey = "sk-test-4711-secret";

export const hello: ModelRequest = {
  model: "scripted",
  messages: [{ role: "user", content: "hello" }],
  tools: [],
};

export interface Rig {
  readonly server: ScriptedModel;
  /** One call; `pieces` are the previews. */
  call(
    request?: Partial<ModelRequest>,
    options?: { readonly signal?: AbortSignal; readonly onText?: (text: string) => void },
  ): Promise<{ readonly outcome: ModelOutcome; readonly pieces: readonly string[] }>;
}

/** A model client before a scripted server of its own. */
export async function startRig(options: Partial<OpenAiModelOptions> = {}): Promise<Rig> {
  const server = await startScriptedModel();
  const model = createOpenAiModel({ baseUrl: server.url, apiKey, ...options });
  return {
    server,
    call: async (request = {}, { signal = new AbortController().signal, onText } = {}) => {
      const pieces: string[] = [];
      const listen = (text: string): void => {
        pieces.push(text);
        onText?.(text);
      };
      const outcome = await model.complete({ ...hello, ...request }, { signal, onText: listen });
      return { outcome, pieces };
    },
  };
}

/** The failure that a call meets; asserts what holds for every failure: asked once, and no key in the detail. */
export async function failureOf(rig: Rig, reply: ScriptedReply): Promise<Extract<ModelOutcome, { kind: "failed" }>> {
  rig.server.reply(reply);
  const { outcome } = await rig.call();
  if (outcome.kind !== "failed") throw new Error(`no failure: ${JSON.stringify(outcome)}`);
  expect(outcome.detail).not.toContain(apiKey);
  expect(rig.server.requests).toHaveLength(1);
  return outcome;
}

export const status =
  (code: number, body: unknown = "", headers: Record<string, string> = {}): ScriptedReply =>
  (_request, respond) =>
    respond.status(code, body, headers);

/** Collects rejections that nobody handled; call it at the start of a file and the result at its end. */
export function watchRejections(): () => readonly unknown[] {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  return () => {
    process.off("unhandledRejection", note);
    return unhandled;
  };
}
