/** A line of a service's output, made readable. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

/** Fields that the line's frame already shows or that only matter to machines. */
const FRAME = new Set(["level", "time", "pid", "hostname", "name", "service", "msg", "v", "err", "error", "version"]);

/**
 * Reads a line as the services (JSON with `level` and `msg`), the NATS server (`[INF] …`) or any other program wrote
 * it. Never throws: what is not understood is shown as it is.
 */
export function readLogLine(line: string): LogLine {
  return readJson(line) ?? readNats(line) ?? { level: "info", text: line };
}

/** One line for the screen: time, who, level unless it is the usual one, text. */
export function showLogLine(name: string, { level, text }: LogLine, at: Date): string {
  const time = at.toTimeString().slice(0, 8);
  return `${time} ${name.padEnd(13)} ${level === "info" ? "" : `${level}: `}${text}`;
}

function readJson(line: string): LogLine | undefined {
  if (!line.startsWith("{")) return undefined;
  let record: Record<string, unknown>;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    record = { ...value };
  } catch {
    return undefined;
  }
  const fields = Object.entries(record)
    .filter(([key, value]) => !FRAME.has(key) && value !== null && value !== "")
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const failure = messageOf(record.err) ?? messageOf(record.error);
  const parts = [
    typeof record.msg === "string" ? record.msg : "",
    ...(failure === undefined ? [] : [`(${failure})`]),
    ...fields,
  ];
  return { level: levelOf(record.level), text: parts.filter((part) => part !== "").join(" ") };
}

function messageOf(error: unknown): string | undefined {
  if (typeof error === "string") return error;
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : undefined;
}

/** Levels come as pino's numbers or as names. */
function levelOf(level: unknown): LogLine["level"] {
  const named: Record<string, number> = {
    trace: 10,
    debug: 20,
    info: 30,
    warn: 40,
    error: 50,
    fatal: 60,
  };
  const number = typeof level === "number" ? level : (named[String(level)] ?? 30);
  if (number >= 50) return "error";
  if (number >= 40) return "warn";
  return number >= 30 ? "info" : "debug";
}

/** The local server's password stands in a file that only the owner may read, so its warning about that is none. */
function readNats(line: string): LogLine | undefined {
  const [, mark, text = ""] = /^\[\d+\] \S+ \S+ \[(\w{3})\] (.*)$/.exec(line) ?? [];
  if (mark === undefined) return undefined;
  if (mark === "WRN" && text.startsWith("Plaintext passwords")) return { level: "debug", text };
  const levels: Record<string, LogLine["level"]> = { WRN: "warn", ERR: "error", FTL: "error" };
  // What the server says in the normal course of things is of no use on the screen.
  return { level: levels[mark] ?? "debug", text: text.trim() };
}
