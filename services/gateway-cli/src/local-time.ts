import { sanitiseLine } from "./sanitise.js";

/** An instant of the API for a person, in the machine's zone, to the minute. */
export function localTime(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return sanitiseLine(text);
  const two = (value: number): string => String(value).padStart(2, "0");
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${date} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
