// Lint rules of this repository that oxlint has no native rule for. Everything oxlint or Nx can express
// lives in `.oxlintrc.json`; a rule belongs here only if it cannot be said there.
import { basename, relative, sep } from "node:path";

const FORBIDDEN_NOUNS = /^(utils?|helpers?|common|misc|types?|constants?|managers?)$/;
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** A file is named after the one noun it exports; "session-utils" names a drawer, not a noun. */
const fileName = {
  create: (context) => ({
    Program(node) {
      for (const part of pathInTree(context).split("/")) {
        const stem = basename(part).replace(/^\./, "").split(".")[0] ?? "";
        const last = stem.split("-").at(-1) ?? "";
        if (FORBIDDEN_NOUNS.test(last)) {
          const message = `"${part}" names no noun: call it after the one thing it holds`;
          context.report({ node, message });
        } else if (!KEBAB_CASE.test(stem)) {
          context.report({ node, message: `"${part}" is not kebab-case` });
        }
      }
    },
  }),
};

/** What a module offers must be readable in the module that offers it. */
const noExportStar = {
  create: (context) => ({
    ExportAllDeclaration(node) {
      context.report({ node, message: "list what is exported: no `export *`" });
    },
  }),
};

/** `new Date()` and `Date()` read the clock; `new Date(ms)` and `Date.parse` do not. */
const noAmbientDate = {
  create: (context) => {
    const report = (node) => {
      if (node.callee.type !== "Identifier" || node.callee.name !== "Date") return;
      if (node.type === "NewExpression" && node.arguments.length > 0) return;
      context.report({ node, message: "pure layers read no clock: take `now` as an argument" });
    };
    return { NewExpression: report, CallExpression: report };
  },
};

/**
 * A client library is imported by its one home only, so that replacing it touches one folder.
 * Option: `{ "<package or @scope/*>": ["<folder that may import it>", …] }`.
 */
const clientLibrary = {
  meta: { schema: [{ type: "object" }] },
  create: (context) => {
    const homes = Object.entries(context.options[0] ?? {});
    const path = pathInTree(context);
    const check = (node) => {
      const imported = node.source?.value;
      if (typeof imported !== "string") return;
      for (const [library, folders] of homes) {
        if (!isPartOf(imported, library)) continue;
        if (folders.some((folder) => path.startsWith(`${folder}/`))) continue;
        const message = `"${imported}" may be imported in ${folders.join(", ")} only`;
        context.report({ node, message });
      }
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      TSImportType: check,
    };
  },
};

function isPartOf(imported, library) {
  if (library.endsWith("/*")) return imported.startsWith(library.slice(0, -1));
  return imported === library || imported.startsWith(`${library}/`);
}

function pathInTree(context) {
  return relative(context.cwd, context.filename).split(sep).join("/");
}

export default {
  meta: { name: "troupe" },
  rules: {
    "client-library": clientLibrary,
    "file-name": fileName,
    "no-ambient-date": noAmbientDate,
    "no-export-star": noExportStar,
  },
};
