import { APIError } from "openai";
import { z } from "zod";
import { classify } from "./failure.js";
import { detailWriter } from "./failure-detail.js";
import { createClient, type ProviderOptions } from "./openai-client.js";

export interface ProbeOptions extends ProviderOptions {
  /** The answer comes within this time, in milliseconds; 3,000. */
  readonly timeoutMs?: number;
}

export type ModelProbe =
  | { readonly kind: "ok"; readonly models: readonly string[] }
  /** The provider does not take the key. */
  | { readonly kind: "unauthorized"; readonly detail: string }
  /** No provider answers, or it answers that it cannot at present. */
  | { readonly kind: "unreachable"; readonly detail: string }
  /** Something answers, but it lists no models; it may serve chats all the same. */
  | { readonly kind: "unsupported"; readonly detail: string };

const listSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

/** Asks a provider which models it has, for a line at start-up. Never rejects. */
export async function probeModel(options: ProbeOptions): Promise<ModelProbe> {
  const timeoutMs = options.timeoutMs ?? 3_000;
  const clean = detailWriter(options.apiKey.trim());
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ModelProbe>((resolve) => {
    timer = setTimeout(() => {
      resolve({ kind: "unreachable", detail: `no answer within ${timeoutMs} ms` });
      controller.abort();
    }, timeoutMs);
  });
  try {
    const probe = await Promise.race([late, ask(options, controller.signal)]);
    return probe.kind === "ok" ? probe : { ...probe, detail: clean(probe.detail) };
  } finally {
    clearTimeout(timer);
  }
}

async function ask(options: ProbeOptions, signal: AbortSignal): Promise<ModelProbe> {
  try {
    const client = createClient(options);
    const response = await client.api.get("/models", { signal }).asResponse();
    const parsed = listSchema.safeParse(await json(client.bodyOf(response)));
    if (!parsed.success) return { kind: "unsupported", detail: "the answer is no list of models" };
    return { kind: "ok", models: parsed.data.data.map((model) => model.id) };
  } catch (error) {
    const { code, detail } = classify(error, false);
    if (code === "unauthorized") return { kind: "unauthorized", detail };
    const isMisunderstood = code === "refused" || code === "malformed";
    return {
      kind: isMisunderstood && error instanceof APIError ? "unsupported" : "unreachable",
      detail,
    };
  }
}

async function json(body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    return undefined;
  }
}
