/** A JSON log line in the form for people: time, level, service, message, then the fields. */
export function prettyLine(line: string): string {
  const { time, level, service, pid: _, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const error = typeof err === "object" && err !== null ? (err as Record<string, unknown>) : undefined;
  const rest = Object.entries({
    ...fields,
    ...(error && error.message !== msg ? { error: error.message } : {}),
  });
  const head = [
    clock(time),
    String(level).toUpperCase().padEnd(5),
    String(service),
    oneLine(typeof msg === "string" ? msg : JSON.stringify(msg ?? "")),
  ];
  const text = [...head, ...rest.map(([name, value]) => `${name}=${plain(value)}`)].join(" ");
  // Only a defect that ends the process is worth more than its line.
  return level === "fatal" && typeof error?.stack === "string" ? `${text}\n${error.stack}\n` : `${text}\n`;
}

function clock(time: unknown): string {
  const at = new Date(String(time));
  const two = (value: number) => String(value).padStart(2, "0");
  const millis = String(at.getMilliseconds()).padStart(3, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${millis}`;
}

function plain(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function oneLine(text: string): string {
  return text.replaceAll("\r", "\\r").replaceAll("\n", "\\n");
}
