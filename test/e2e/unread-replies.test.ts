import { execFile } from "node:child_process";
import { join } from "node:path";
import { outboxSubject, parseSessionId, type SessionKey } from "@troupe/contracts";
import { projectRoot, type ServiceProcess } from "@troupe/testkit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { Messenger } from "../channel/messenger.js";
import { type MessengerGateway, startGateway } from "../channel/messenger-gateway.js";
import { Conversation } from "../system/conversation.js";
import { useTroupe } from "../system/use-troupe.js";
import { BareNats } from "./hostile-nats.js";

/** Replies that no version can read: of each one dead letter, however many processes see it, and life goes on. */
const system = useTroupe({ gateways: 2 });
let nats: BareNats;
let messenger: Messenger;
const channel: MessengerGateway[] = [];

beforeAll(async () => {
  nats = await BareNats.open(system().nats);
  messenger = await Messenger.start(false);
  for (let n = 0; n < 2; n += 1) channel.push(await startGateway(system(), messenger, "unsafe"));
});
afterAll(async () => {
  nats?.close();
  await Promise.all(channel.map((gateway) => gateway.stop()));
  await messenger?.stop();
});

function keyOf(session: string): SessionKey {
  const parsed = parseSessionId(session);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.key;
}

function dead(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const command = [join(projectRoot, "deploy", "local", "troupe.mjs"), "dead", ...args];
  const at = ["--url", system().url, "--token", system().token];
  const env = { PATH: process.env.PATH, TROUPE_DATA: system().dataFolder };
  return new Promise((resolve) => {
    execFile(process.execPath, [...command, ...at], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const Listed = z.object({ dead: z.array(z.object({ id: z.string(), kind: z.string(), reason: z.string() })) });

async function letters(session: string) {
  const { stdout } = await dead("list", "--json", "--kind", "reply", "--session", session);
  return Listed.parse(JSON.parse(stdout)).dead;
}

const saying = (services: readonly ServiceProcess[], session: string, what: string): string[] =>
  services.flatMap(({ output }) => output.lines.filter((line) => line.includes(what) && line.includes(`"${session}"`)));
const gaveUp = "gave up on reply: look at it with `troupe dead list`";

async function buried(session: string, services: readonly ServiceProcess[]): Promise<string> {
  const found = await vi.waitFor(
    async () => {
      const all = await letters(session);
      expect(all).toHaveLength(1);
      return all[0];
    },
    { timeout: 20_000 },
  );
  await vi.waitFor(() => expect(saying(services, session, gaveUp)).toHaveLength(1));
  expect(await nats.last("OUTBOX", outboxSubject(keyOf(session)))).toBeNull();
  return found?.id ?? "";
}

describe("a reply that nobody can read", () => {
  it("in a channel that every gateway follows is one dead letter, which is shown, not retried, and dropped", async () => {
    await nats.ask(outboxSubject(keyOf("torn")), '{"v":1,"id":"x","kind":"final"');
    const id = await buried("http:torn", system().gateways);
    const table = await dead("list");
    expect(table.stdout).toMatch(new RegExp(`^${id} +reply +http:torn .* no +the body is not JSON$`, "m"));
    const shown = await dead("show", id);
    expect(shown.stdout).toMatch(/refused: the reply cannot be read and would come back[^]*\nbody\n\{"v":1,/);
    expect(await dead("retry", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("would come back") });
    expect(await dead("drop", id)).toMatchObject({ code: 0 });
    expect((await new Conversation(system(), "torn").say("hello")).final.text).toBe("echo: hello");
    expect(await letters("http:torn")).toEqual([]);
  });

  it("in a channel that one process serves is one dead letter too, and the next reply is shown", async () => {
    await nats.ask(outboxSubject(keyOf("webhook:torn")), '{"v":1,"id":"x","kind":"final"}');
    await buried(
      "webhook:torn",
      channel.map(({ service }) => service),
    );
    await vi.waitFor(async () => expect(await messenger.say("torn", "m1", "hello")).toBe(true));
    await vi.waitFor(() => expect(messenger.shown("torn")).toEqual(["echo: hello"]), { timeout: 20_000 });
  });

  it("but a newer version can is no dead letter, and each gateway says once that it is left to others", async () => {
    const subject = outboxSubject(keyOf("newer"));
    await nats.ask(subject, '{"v":9,"id":"x"}');
    const left = "left to a newer service";
    await vi.waitFor(() => expect(saying(system().gateways, "http:newer", left)).toHaveLength(2));
    expect(await letters("http:newer")).toEqual([]);
    expect(await nats.last("OUTBOX", subject)).toBe('{"v":9,"id":"x"}');
  });
});
