import { styleText } from "node:util";

type Format = Parameters<typeof styleText>[0];

/** Colours text that is already safe to print. */
export type Paint = (format: Format, text: string) => string;

/** Colours only where the terminal has them and the person has not asked for none. */
export function paintFor(stream: { hasColors?(): boolean }): Paint {
  const colours = stream.hasColors?.() === true;
  return (format, text) => (colours && text !== "" ? styleText(format, text, { validateStream: false }) : text);
}
