import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Channel,
  type Intake,
  IntakeRefusal,
  type PreviewText,
  type Reply,
  type SendOutcome,
} from "@troupe/channel-kit";

/** A channel to the played messenger: what an author writes. */
export function messengerChannel(url: string, resend: Channel["resend"], name: Channel["name"] = "webhook"): Channel {
  return {
    name,
    resend,
    listen: (intake, signal) => listen(url, intake, signal),
    send: (reply, signal) => send(url, reply, signal),
    preview: async ({ conversation, turn, text }: PreviewText, signal) => {
      const body = JSON.stringify({ turn, conversation, text, from: process.pid });
      await fetch(`${url}/edit`, { method: "POST", body, signal });
    },
  };
}

async function send(url: string, { id, turn, conversation, text }: Reply, signal: AbortSignal): Promise<SendOutcome> {
  let answer: Response;
  try {
    answer = await fetch(`${url}/send`, {
      method: "POST",
      body: JSON.stringify({ id, turn, conversation, text, from: process.pid }),
      signal,
      // A connection kept from before may break while the request is on it: then nobody knows. A fresh one that is
      // refused has surely carried nothing.
      headers: { connection: "close" },
    });
  } catch (error) {
    const refused = error instanceof Error && String(Object(error.cause).code) === "ECONNREFUSED";
    return { kind: refused ? "not-sent" : "unknown", reason: error instanceof Error ? error.message : String(error) };
  }
  const body = await answer.text();
  if (answer.ok) return { kind: "delivered", receipt: id };
  if (answer.status === 503) {
    const retryAfterMs = 1_000 * Number(answer.headers.get("retry-after") ?? "1");
    return { kind: "not-sent", reason: "the messenger is busy", retryAfterMs };
  }
  return { kind: "rejected", reason: body };
}

async function listen(url: string, intake: Intake, signal: AbortSignal): Promise<void> {
  const server = createServer((request, response) => void take(intake, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await fetch(`${url}/register`, { method: "POST", body: JSON.stringify({ url: own }) });
  if (!signal.aborted) await once(signal, "abort");
  server.close();
  server.closeIdleConnections();
  await once(server, "close");
}

async function take(intake: Intake, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let raw = "";
  for await (const chunk of request) raw += String(chunk);
  const { conversation, messageId, text } = JSON.parse(raw) as Record<"conversation" | "messageId" | "text", string>;
  response.setHeader("connection", "close");
  try {
    const taken = await intake.accept({ conversation, messageId, text, principal: "somebody" });
    response.end(JSON.stringify(taken));
  } catch (error) {
    response.writeHead(error instanceof IntakeRefusal ? 422 : 503).end();
  }
}
