import { type DeliveryStatus, parseSessionId, turnIdOf } from "@troupe/contracts";
import type { ServiceProcess } from "@troupe/testkit";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DeliveryBook } from "../channel/delivery-book.js";
import { Messenger } from "../channel/messenger.js";
import { type MessengerGateway, startGateway } from "../channel/messenger-gateway.js";
import { type CrashPoint, killAt } from "../system/crash-point.js";
import { useTroupe } from "../system/use-troupe.js";

/**
 * A channel's gateway that dies at each point between hearing a message and having its answer shown. Another one
 * stands by; the conversation goes on there.
 */
const system = useTroupe({ gateways: 1 });

/** Longer than another process needs to be served in the dead one's place. */
const TAKEOVER = { timeout: 40_000, interval: 20 };

let messenger: Messenger;
let book: DeliveryBook;
const gateways: MessengerGateway[] = [];
let person = "";

async function start(resend: "unsafe" | "harmless"): Promise<void> {
  messenger = await Messenger.start(resend === "harmless");
  for (let n = 0; n < 2; n += 1) gateways.push(await startGateway(system(), messenger, resend));
}

beforeEach(async ({ task }) => {
  book = await DeliveryBook.open(system());
  person = task.name;
});
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop()));
  await messenger.stop();
  await book.close();
});

/** As the outside does: again and again, until it is told that the message is taken. */
async function say(messageId: string, text: string): Promise<void> {
  await vi.waitFor(async () => expect(await messenger.say(person, messageId, text)).toBe(true), TAKEOVER);
}

function turnOf(messageId: string): string {
  const parsed = parseSessionId(`webhook:${person}`);
  if (!parsed.ok) throw new Error(parsed.reason);
  return turnIdOf(parsed.key, messageId);
}

async function settles(messageId: string, wanted: DeliveryStatus): Promise<void> {
  const record = () => book.of(`webhook:${person}`, turnOf(messageId));
  await vi.waitFor(async () => expect((await record())?.status).toBe(wanted), TAKEOVER);
}

const processes = () => gateways.map(({ tap, service }) => ({ tap, service }));
const isMail = ({ subject }: { subject: string }): boolean => subject.startsWith("mail.session.webhook.");
const isRecord = ({ subject }: { subject: string }): boolean => subject.startsWith("$KV.deliveries.");

describe("a gateway killed while it takes a message in", () => {
  it.each<CrashPoint>([
    { name: "accepted, not in MAIL", isLast: isMail, dies: "before" },
    { name: "published, the outside not told", isLast: isMail, dies: "after" },
  ])("$name: the outside says it again, and there is one answer", async (point) => {
    await start("unsafe");
    const killed = killAt(point, processes());
    const first = messenger.say(person, "m1", "hello");
    await killed;
    await first;
    await say("m1", "hello");
    await say("m1", "hello");
    await say("m2", "and now?");
    await vi.waitFor(() => expect(messenger.shown(person)).toEqual(["echo: hello", "echo: and now?"]), TAKEOVER);
    await settles("m1", "confirmed");
  });
});

interface Fate {
  readonly point: string;
  readonly resend: "unsafe" | "harmless";
  readonly status: DeliveryStatus;
  /** How often the reply is shown. */
  readonly shown: 0 | 1;
}

describe("a gateway killed while it delivers", () => {
  it.each<Fate>([
    { point: "about to send", resend: "unsafe", status: "unsettled", shown: 0 },
    { point: "sending", resend: "unsafe", status: "unsettled", shown: 1 },
    { point: "sent, not recorded", resend: "unsafe", status: "unsettled", shown: 1 },
    { point: "sent, not recorded", resend: "harmless", status: "confirmed", shown: 1 },
  ])("$point, resend $resend: $status, shown $shown times, and the conversation goes on", async (fate) => {
    const { point, resend, status, shown } = fate;
    await start(resend);
    const dying = killedAt(point);
    await say("m1", "hello");
    const dead = await dying;
    await settles("m1", status);
    await say("m2", "and now?");
    const answers = [...Array.from({ length: shown }, () => "echo: hello"), "echo: and now?"];
    await vi.waitFor(() => expect(messenger.shown(person)).toEqual(answers), TAKEOVER);
    await settles("m2", "confirmed");
    const survivor = gateways.find(({ service }) => service !== dead)?.service;
    const flagged = await survivor?.metric("troupe_deliveries_total", { outcome: "unsettled" });
    expect(flagged).toBe(status === "unsettled" ? 1 : 0);
  });
});

/** Kills the gateway that delivers when it gets there. */
function killedAt(point: string): Promise<ServiceProcess> {
  const record = { name: point, isLast: isRecord };
  switch (point) {
    case "about to send":
      return killAt({ ...record, dies: "after" }, processes());
    case "sent, not recorded":
      return killAt({ ...record, skip: 1, dies: "before" }, processes());
    default:
      return killedWhileSending();
  }
}

/** The request has arrived at the messenger, which does not know yet that nobody waits for its answer. */
function killedWhileSending(): Promise<ServiceProcess> {
  let sender: ServiceProcess | undefined;
  for (const { tap, service } of processes()) {
    tap.after = (published) => {
      if (isRecord(published)) sender = service;
    };
  }
  return new Promise((resolve) => {
    messenger.hook = async (when) => {
      if (when !== "arrived" || sender === undefined) return;
      messenger.hook = () => undefined;
      await sender.kill("SIGKILL");
      resolve(sender);
    };
  });
}
