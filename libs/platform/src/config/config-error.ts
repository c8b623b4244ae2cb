/** One thing wrong with the configuration: where it was set, and the form that was expected. Never a value. */
export interface Problem {
  /** A variable's name, or the file's name and the path in it. */
  readonly where: string;
  readonly message: string;
}

/** Everything that is wrong with the configuration at once; `message` is what to print before exiting with 1. */
export class ConfigError extends Error {
  readonly kind = "config";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ where, message }) => `${where}: ${message}`);
    super(
      lines.length === 1
        ? `configuration: ${lines[0]}`
        : `configuration: ${lines.length} problems\n${lines.map((line) => `  ${line}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** A part of the configuration that only some services need: absent, with the reason, until one asks for it. */
export type Section<T> = { readonly value: T } | { readonly absent: readonly Problem[] };
