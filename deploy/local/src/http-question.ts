const LIMIT_MS = 5_000;

/**
 * One question to a server over HTTP.
 *
 * @throws Error with one line when nobody answers
 */
export async function askHttp(url: string, headers: Record<string, string> = {}): Promise<Response> {
  try {
    return await fetch(url, { headers, signal: AbortSignal.timeout(LIMIT_MS) });
  } catch (error) {
    throw new Error(`no answer from ${new URL(url).host}`, { cause: error });
  }
}
