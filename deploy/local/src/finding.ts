/** What was found out about one thing; when it is not well, `advice` says what to do about it. */
export type Finding =
  | { readonly state: "ok"; readonly text: string }
  | { readonly state: "degraded" | "broken"; readonly text: string; readonly advice: string };

export function well(text: string): Finding {
  return { state: "ok", text };
}

/** It works, and not as it should. */
export function degraded(text: string, advice: string): Finding {
  return { state: "degraded", text, advice };
}

export function broken(text: string, advice: string): Finding {
  return { state: "broken", text, advice };
}

/** One line for a person. */
export function lineOf(name: string, finding: Finding): string {
  const line = `${finding.state.padEnd(8)} ${name}: ${finding.text}`;
  return finding.state === "ok" ? line : `${line}; ${finding.advice}`;
}
