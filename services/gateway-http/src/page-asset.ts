import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file of the web pages, as it is served. */
export interface PageAsset {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

// The same folder from `src` and from `dist`.
const WEB = new URL("../web/", import.meta.url);
const BUILT = new URL("dist/", WEB);

/**
 * Style sheets, icon and compiled modules by file name. All that is served is held here, so that no name in a request
 * ever becomes a path.
 */
export function loadPageAssets(): ReadonlyMap<string, PageAsset> {
  const assets = new Map<string, PageAsset>();
  for (const folder of [WEB, BUILT]) {
    for (const name of fileNames(folder)) {
      const type = TYPES[name.slice(name.lastIndexOf("."))];
      if (type !== undefined) assets.set(name, asset(type, readFileSync(new URL(name, folder))));
    }
  }
  return assets;
}

/** The page of the chat; it asks for its modules at once, not one import after the other. */
export function loadChatPage(assets: ReadonlyMap<string, PageAsset>): PageAsset {
  const preloads = [...assets.keys()]
    .filter((name) => name.endsWith(".js") && name !== "sign-in.js")
    .map((name) => `<link rel="modulepreload" href="/assets/${name}">`);
  const page = readFileSync(new URL("chat.html", WEB), "utf8").replace("<!-- modules -->", preloads.join("\n    "));
  return asset("text/html; charset=utf-8", Buffer.from(page));
}

function asset(type: string, body: Buffer): PageAsset {
  const digest = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  return { type, body, etag: `"${digest}"` };
}

/** None when the modules have not been compiled: the API does not need them. */
function fileNames(folder: URL): string[] {
  try {
    return readdirSync(fileURLToPath(folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
