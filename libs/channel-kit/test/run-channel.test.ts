import { createLogger, createMetrics, StartError } from "@troupe/platform";
import { describe, expect, it } from "vitest";
import { type Channel, runChannel } from "../src/index.js";

const whole = {
  name: "webhook",
  resend: "unsafe",
  listen: async () => {},
  send: async () => {},
  preview: async () => {},
};

/** Starts a channel as an author passes it whom no compiler holds; nothing is to be opened for it. */
function start(change: Readonly<Record<string, unknown>>): Promise<void> {
  const unexpected = (): never => {
    throw new Error("opened for a channel that cannot work");
  };
  const log = createLogger({ service: "test", level: "silent" });
  const context = {
    log,
    metrics: createMetrics("test"),
    health: { set: unexpected },
    open: unexpected,
    fail: unexpected,
  };
  const channel: unknown = { ...whole, ...change };
  return runChannel(context as never, {} as never, channel as Channel);
}

describe("a channel that cannot work is not begun with", () => {
  it("of a name that is not known, which is said with those that are and where to add one", async () => {
    const refused = start({ name: "demo" });
    await expect(refused).rejects.toBeInstanceOf(StartError);
    await expect(refused).rejects.toThrow(
      /'demo'.*http, cli, webhook, .*CHANNELS in libs\/contracts\/src\/session-id\.ts/,
    );
  });

  it.each([undefined, null, 7, "", "toString"])("of the name %o", async (name) => {
    await expect(start({ name })).rejects.toBeInstanceOf(StartError);
  });

  it.each([
    [{ resend: "sometimes" }, /webhook: resend must be one of harmless, unsafe/],
    [{ resend: undefined }, /resend/],
    [{ listen: undefined }, /webhook: listen must be a function/],
    [{ send: "x" }, /send/],
    [{ preview: null }, /preview/],
  ])("with %o", async (change, says) => {
    const refused = start(change);
    await expect(refused).rejects.toBeInstanceOf(StartError);
    await expect(refused).rejects.toThrow(says);
  });
});
