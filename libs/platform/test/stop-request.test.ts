import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { onStopRequest } from "../src/stop-request.js";

const EVENTS = ["SIGTERM", "SIGINT", "uncaughtException", "unhandledRejection"] as const;
const handlers = { stop: vi.fn(), stopNow: vi.fn(), defect: vi.fn() };
let before: Map<string, Function[]>;

beforeEach(() => {
  vi.useFakeTimers();
  vi.clearAllMocks();
  before = new Map(EVENTS.map((event) => [event, process.rawListeners(event)]));
});

afterEach(() => {
  vi.useRealTimers();
  for (const event of EVENTS) {
    for (const listener of process.rawListeners(event)) {
      if (!before.get(event)?.includes(listener)) process.off(event, listener as () => void);
    }
  }
});

it("takes the echo of a Ctrl-C, which npm passes on once more, for the same wish", () => {
  onStopRequest(handlers, false);
  process.emit("SIGINT", "SIGINT");
  vi.advanceTimersByTime(5);
  process.emit("SIGINT", "SIGINT");
  expect(handlers.stop).toHaveBeenCalledExactlyOnceWith("SIGINT");
  expect(handlers.stopNow).not.toHaveBeenCalled();
});

it("takes a second Ctrl-C for impatience", () => {
  onStopRequest(handlers, false);
  process.emit("SIGINT", "SIGINT");
  vi.advanceTimersByTime(500);
  process.emit("SIGINT", "SIGINT");
  expect(handlers.stopNow).toHaveBeenCalledExactlyOnceWith("SIGINT");
});

it("takes a second SIGTERM for impatience however soon it comes", () => {
  onStopRequest(handlers, false);
  process.emit("SIGTERM", "SIGTERM");
  process.emit("SIGTERM", "SIGTERM");
  expect(handlers.stopNow).toHaveBeenCalledExactlyOnceWith("SIGTERM");
});
