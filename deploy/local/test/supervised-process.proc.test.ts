import { describe, expect, it, vi } from "vitest";
import { StartFailure } from "../src/start-failure.js";
import { type ProcessSpec, SupervisedProcess } from "../src/supervised-process.js";

/** A process that runs a script; what it says and what is said of it is collected. */
function supervise(script: string, spec: Partial<ProcessSpec> = {}) {
  const lines: string[] = [];
  const notices: string[] = [];
  const process_ = new SupervisedProcess(
    {
      name: "worker",
      command: process.execPath,
      args: () => ["-e", script],
      env: {},
      ready: "ipc",
      ...spec,
    },
    { line: (_name, text) => lines.push(text), notice: (text) => notices.push(text) },
  );
  return { process: process_, lines, notices };
}

const READY = "process.send({ ready: true }); setInterval(() => {}, 1e6);";

describe("the first start", () => {
  it("is ready by message, with an address from it or from an earlier one", async () => {
    const one = supervise(`process.send({ ready: true, url: "http://a" }); setInterval(() => {}, 1e6)`);
    expect(await one.process.start()).toEqual({ url: "http://a" });
    await one.process.stop(30_000);
    const two = supervise(`process.send({ url: "http://b" }); ${READY}`);
    expect(await two.process.start()).toEqual({ url: "http://b" });
    await two.process.stop(30_000);
  });

  it("is ready by a line of output", async () => {
    const script = `console.error("[INF] Server is ready"); setInterval(() => {}, 1e6)`;
    const { process, lines } = supervise(script, { ready: /Server is ready$/ });
    await process.start();
    expect(lines).toEqual(["[INF] Server is ready"]);
    await process.stop(30_000);
  });

  it("fails with the last line on stderr, structured or not, named after the process", async () => {
    const plain = supervise(`console.log("bye"); console.error("worker: no key"); process.exitCode = 1`);
    await expect(plain.process.start()).rejects.toThrow(new StartFailure("worker: no key"));
    const json = supervise(`console.error('{"level":"fatal","msg":"no disk"}'); process.exitCode = 1`);
    await expect(json.process.start()).rejects.toThrow(new StartFailure("worker: no disk"));
    const mute = supervise("process.exitCode = 1");
    await expect(mute.process.start()).rejects.toThrow("worker: ended with exit code 1");
  });

  it("fails when there is no such program", async () => {
    const { process } = supervise("", { command: "/nowhere/node" });
    await expect(process.start()).rejects.toThrow(/^worker: .*ENOENT/);
  });

  it("fails when it is not ready in time, and leaves nothing", async () => {
    const { process } = supervise("setInterval(() => {}, 1e6)", { readyWithinMs: 300 });
    await expect(process.start()).rejects.toThrow("worker: not ready within 0.3 s");
    await process.stop(30_000);
    expect(process.pid).toBeUndefined();
  });

  it("is tried again after an accident", async () => {
    let starts = 0;
    const args = () => ["-e", ++starts === 1 ? "process.kill(process.pid, 'SIGSEGV')" : READY];
    const { process, notices } = supervise("", { args });
    await process.start();
    expect(notices).toEqual(["worker was killed (SIGSEGV), starting it again in 0.2 s"]);
    await process.stop(30_000);
  });
});

describe("later", () => {
  it("a restarted process that does not become ready is killed and started again", async () => {
    let starts = 0;
    const args = () => ["-e", ++starts === 2 ? "setInterval(() => {}, 1e6)" : READY];
    const { process: worker, notices } = supervise("", { args, readyWithinMs: 5_000 });
    await worker.start();
    process.kill(worker.pid ?? 0, "SIGKILL");
    await vi.waitFor(() => expect(notices.at(-1)).toBe("worker is back"));
    expect(starts).toBe(3);
    expect(notices).toContain("worker is not ready within 5 s");
    await worker.stop(30_000);
  });

  it("stopping ends the waiting for the next start, too", async () => {
    const { process, notices } = supervise(`process.send({ ready: true }); setTimeout(() => process.exit(3), 50)`);
    await process.start();
    await vi.waitFor(() => expect(notices).toHaveLength(1));
    expect(notices[0]).toBe("worker ended with exit code 3, starting it again in 0.2 s");
    await process.stop(30_000);
    expect(process.pid).toBeUndefined();
  });
});
