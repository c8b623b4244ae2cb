import { describe, expect, it } from "vitest";
import { Conversation } from "../system/conversation.js";
import { OutboxRecord } from "../system/outbox-record.js";
import { useTroupe } from "../system/use-troupe.js";

/** Services that are asked to end while the NATS server is away cannot hand anything over, and end all the same. */
const EXIT_MS = 10_000;

const system = useTroupe();

describe.each([
  ["gone", "SIGKILL"],
  ["frozen", "SIGSTOP"],
] as const)("SIGTERM while the NATS server is %s", (what, signal) => {
  it("ends services in time, and the turn that was under way is answered once all is there again", async () => {
    const { nats, model } = system();
    const chat = new Conversation(system(), what);
    const [gate, next] = [model.hold(what), model.hold(what)];
    await chat.send(`hello, ${what}`, { id: "a" });
    await gate.arrived;
    await nats.kill(signal);
    const askedAt = performance.now();
    const services = [...system().orchestrators, ...system().gateways];
    await Promise.all(
      services.map(async (service) => {
        const end = await service.kill("SIGTERM");
        const tookMs = performance.now() - askedAt;
        console.log(`${service.name} ended ${Math.round(tookMs)} ms after SIGTERM, with NATS ${what}`);
        if (what === "gone") expect(end, service.name).toEqual({ code: 0, signal: null });
        expect(tookMs, service.name).toBeLessThan(EXIT_MS);
      }),
    );
    await nats.restart();
    const port = new URL(system().url).port;
    await Promise.all([
      ...system().orchestrators.map((service) => service.start()),
      ...system().gateways.map((service) => service.start({ TROUPE_HTTP_PORT: port })),
    ]);
    await next.arrived;
    next.release();
    gate.release();
    const { final } = await chat.sayThroughOutage(`hello, ${what}`, "a");
    expect(final).toMatchObject({ kind: "answer", text: `echo: hello, ${what}` });
    const record = await OutboxRecord.open(system());
    expect(await record.finals(`http:${what}`)).toEqual([final]);
    await record.close();
    expect((await chat.history()).total).toBe(2);
  });
});

describe("SIGTERM during a start that waits for the NATS server", () => {
  it.each([
    ["gone", "SIGKILL"],
    ["frozen", "SIGSTOP"],
  ] as const)("with the server %s, ends it in time", async (what, signal) => {
    const { nats } = system();
    const services = [...system().orchestrators, ...system().gateways];
    await Promise.all(services.map((service) => service.kill("SIGTERM")));
    await nats.kill(signal);
    await Promise.all(
      services.map(async (service) => {
        const mark = service.output.mark;
        const started = expect(service.start(), service.name).rejects.toThrow("ended with 0 before it was ready");
        await service.output.waitFor("metrics endpoint open", mark);
        const askedAt = performance.now();
        await service.kill("SIGTERM");
        const tookMs = performance.now() - askedAt;
        console.log(`${service.name} gave up its start ${Math.round(tookMs)} ms after SIGTERM, with NATS ${what}`);
        expect(tookMs, service.name).toBeLessThan(EXIT_MS);
        await started;
      }),
    );
    await nats.restart();
    await Promise.all(services.map((service) => service.start()));
  });
});
