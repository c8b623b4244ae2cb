const maxChars = 600;

/**
 * Makes details fit for a log: one line, of bounded length, without the API key or credentials of a URL.
 * A provider may quote the key it refused, and a failed fetch quotes the header it could not build.
 */
export function detailWriter(apiKey: string): (detail: string) => string {
  const secrets = apiKey === "" ? [] : [apiKey, encodeURIComponent(apiKey), JSON.stringify(apiKey).slice(1, -1)];
  return (detail) => {
    let text = detail;
    for (const secret of secrets) text = text.replaceAll(secret, "[key]");
    text = text.replace(/\/\/[^/\s@]+@/g, "//");
    text = text.replace(/\s+/g, " ").trim();
    return text.length > maxChars ? `${text.slice(0, maxChars)}…` : text;
  };
}
