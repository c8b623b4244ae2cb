/**
 * Calls the handler for each of these signals instead of ending the process.
 *
 * A signal means something else here than to a service, which drains: Ctrl-C cancels a turn, and the terminal has to
 * be put back as it was before the process ends.
 *
 * @returns a function that ends the watch
 */
export function watchSignals(
  signals: readonly NodeJS.Signals[],
  handler: (signal: NodeJS.Signals) => void,
): () => void {
  // oxlint-disable-next-line no-restricted-properties -- see above
  for (const signal of signals) process.on(signal, handler);
  return () => {
    for (const signal of signals) process.off(signal, handler);
  };
}
