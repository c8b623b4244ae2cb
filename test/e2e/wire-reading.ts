import type { ScriptedRequest, TroupeSystem } from "@troupe/testkit";
import { createParser } from "eventsource-parser";
import { z } from "zod";

/** Runs of white space count as one, and none at the ends: what a person sees of a text. */
export const plain = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The conversation that a model was shown, without what it was told about itself. */
export function shownTo({ body }: ScriptedRequest): string[] {
  return (body.messages ?? [])
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => `${role}: ${String(content)}`);
}

/** Does it for all, so many at a time; stops at the first failure. */
export async function each<T>(all: readonly T[], parallel: number, work: (one: T) => Promise<unknown>): Promise<void> {
  const waiting = all.values();
  const lane = async (): Promise<void> => {
    for (const one of waiting) await work(one);
  };
  await Promise.all(Array.from({ length: parallel }, lane));
}

const Chunk = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }) })).optional(),
  error: z.object({ code: z.string() }).optional(),
});

/** A streamed completion to its end: its text, the code of its error, and all bytes as they came. */
export async function streamCompletion(
  { url, token }: Pick<TroupeSystem, "url" | "token">,
  request: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ ...request, stream: true }),
  });
  const raw = await response.text();
  let text = "";
  const codes: string[] = [];
  const take = (data: string): void => {
    if (data === "[DONE]") return;
    const { choices, error } = Chunk.parse(JSON.parse(data));
    text += choices?.[0]?.delta.content ?? "";
    if (error !== undefined) codes.push(error.code);
  };
  // An answer that failed before its first word is a plain one.
  if (response.headers.get("content-type")?.startsWith("application/json")) take(raw);
  else createParser({ onEvent: ({ data }) => take(data) }).feed(raw);
  return { status: response.status, text, code: codes[0] ?? null, raw };
}
