/** The system's code and words for a broken connection, from wherever in the chain of causes they sit. */
export function transportCode(error: unknown): { readonly code: string; readonly text: string } {
  let code = "";
  let text = String(error);
  let current: unknown = error;
  // The client wraps fetch's error, fetch wraps the socket's, and a host with several addresses adds a list.
  for (let depth = 0; depth < 6 && current instanceof Error; depth += 1) {
    if (current.message !== "") text = current.message;
    if ("code" in current && typeof current.code === "string") code = current.code;
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return { code, text };
}
