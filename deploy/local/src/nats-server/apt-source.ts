/** One place that apt fetches packages from, whichever of the two file formats it was written in. */
export interface AptSource {
  readonly uris: readonly string[];
  readonly suites: readonly string[];
  readonly components: readonly string[];
  /** Path of a keyring, fingerprints, or an inline key of several lines, as written. */
  readonly signedBy?: string;
  readonly trusted?: string;
}

/** Reads an apt file: deb822 stanzas when its name ends in `.sources`, one-line entries else. Never throws. */
export function parseAptSources(name: string, text: string): AptSource[] {
  return name.endsWith(".sources") ? parseStanzas(text) : parseLines(text);
}

/** Writes a source as a deb822 stanza, restricted to the package list: no translations, icons or contents. */
export function writeAptSource(source: AptSource): string {
  const fields: [string, string | undefined][] = [
    ["Types", "deb"],
    ["URIs", source.uris.join(" ")],
    ["Suites", source.suites.join(" ")],
    ["Components", source.components.join(" ")],
    ["Signed-By", source.signedBy],
    ["Trusted", source.trusted],
    ["Targets", "Packages"],
  ];
  return fields.map(([name, value]) => (value === undefined ? "" : `${name}: ${value}\n`)).join("");
}

function parseStanzas(text: string): AptSource[] {
  const bare = text.replaceAll("\r\n", "\n").replace(/^#.*\n?/gm, "");
  return bare.split(/\n[ \t]*\n/).flatMap((stanza) => {
    const fields = fieldsOf(stanza);
    const disabled = /^(no|false|0|off|without|disable)$/i.test(fields.get("enabled") ?? "");
    if (disabled || !words(fields.get("types")).includes("deb")) return [];
    return source({
      uris: words(fields.get("uris")),
      suites: words(fields.get("suites")),
      components: words(fields.get("components")),
      signedBy: fields.get("signed-by"),
      trusted: fields.get("trusted"),
    });
  });
}

/** Field names are without case; a line that starts with white space continues the value above it. */
function fieldsOf(stanza: string): Map<string, string> {
  const fields = new Map<string, string>();
  let name = "";
  for (const line of stanza.split("\n")) {
    const field = /^([A-Za-z][\w-]*):[ \t]*(.*)$/.exec(line);
    if (field?.[1] !== undefined) {
      name = field[1].toLowerCase();
      fields.set(name, (field[2] ?? "").trim());
    } else if (/^[ \t]/.test(line) && name !== "") {
      fields.set(name, `${fields.get(name) ?? ""}\n${line.trimEnd()}`);
    }
  }
  return fields;
}

function parseLines(text: string): AptSource[] {
  return text.split("\n").flatMap((line) => {
    const entry = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s*(.*)$/.exec(line.replace(/#.*$/, ""));
    if (entry === null) return [];
    const [, options = "", uri = "", suite = "", components = ""] = entry;
    const option = new Map(words(options).map((pair) => splitOnce(pair.toLowerCase(), pair)));
    return source({
      uris: [uri],
      suites: [suite],
      components: words(components),
      signedBy: option.get("signed-by")?.replaceAll(",", " "),
      trusted: option.get("trusted"),
    });
  });
}

function splitOnce(lower: string, pair: string): [name: string, value: string] {
  const at = pair.indexOf("=");
  return at < 0 ? [lower, ""] : [lower.slice(0, at), pair.slice(at + 1)];
}

function source(
  parts: Record<"uris" | "suites" | "components", string[]> & Record<"signedBy" | "trusted", string | undefined>,
): AptSource[] {
  const { uris, suites, components, signedBy, trusted } = parts;
  if (uris.length === 0 || suites.length === 0) return [];
  return [{ uris, suites, components, ...(signedBy && { signedBy }), ...(trusted && { trusted }) }];
}

function words(value: string | undefined): string[] {
  return (value ?? "").split(/\s+/).filter((word) => word !== "");
}
