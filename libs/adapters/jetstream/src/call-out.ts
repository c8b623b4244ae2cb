/**
 * Calls a listener of ours from within the client's reader. A throw there would end the reading of
 * the connection silently; it is a defect, so it is thrown where the process sees it.
 */
export function callOut(listener: () => void): void {
  try {
    listener();
  } catch (cause) {
    queueMicrotask(() => {
      throw cause;
    });
  }
}
