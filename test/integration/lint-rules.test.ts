import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LintResult, PlantedWorkspace } from "./planted-workspace.js";

interface Violation {
  readonly title: string;
  readonly file: string;
  readonly source: string;
  readonly rule: string;
}

const GLOBALS = "eslint(no-restricted-globals)";
const PROPERTIES = "eslint(no-restricted-properties)";
const IMPORTS = "eslint(no-restricted-imports)";
const BUILTINS = "import(no-nodejs-modules)";
const LAYER = "@nx(enforce-module-boundaries): A project tagged with";
const ACROSS = "@nx(enforce-module-boundaries): Projects cannot be imported by a relative";
const UNDECLARED = "@nx(enforce-module-boundaries): Only packages defined in the";
const CLIENT = "troupe(client-library)";

/** Each source is the whole of a planted file; a file's name is made from its row. */
const PURITY: [source: string, rule: string][] = [
  [`import fs from "node:fs"; export const x = fs;`, BUILTINS],
  [`import { join } from "path"; export const x = join;`, BUILTINS],
  [`export const x = () => import("node:timers/promises");`, BUILTINS],
  [`export const x = () => setTimeout(() => 1, 1);`, GLOBALS],
  [`export const x = () => setInterval(() => 1, 1);`, GLOBALS],
  [`export const x = () => setImmediate(() => 1);`, GLOBALS],
  [`export const x = () => queueMicrotask(() => 1);`, GLOBALS],
  [`export const x = () => globalThis.setTimeout(() => 1, 1);`, GLOBALS],
  [`export const x = () => fetch("a");`, GLOBALS],
  [`export const x = () => process.pid;`, GLOBALS],
  [`export const x = () => crypto.randomUUID();`, GLOBALS],
  [`export const x = () => performance.now();`, GLOBALS],
  [`export const x = () => Date.now();`, PROPERTIES],
  [`export const { now } = Date;`, PROPERTIES],
  [`export const x = () => Math.random();`, PROPERTIES],
  [`export const x = () => new Date();`, "troupe(no-ambient-date)"],
  [`export const x = () => Date();`, "troupe(no-ambient-date)"],
];

const PURE_FOLDERS = [
  "libs/contracts/src",
  "libs/kernel/src",
  "libs/kernel/src/testing",
  "libs/domain/context/src",
  "libs/domain/session/src",
];

const BOUNDARIES: [folder: string, imported: string, rule: string][] = [
  ["libs/contracts/src", "@troupe/kernel", LAYER],
  ["libs/contracts/src", "yaml", IMPORTS],
  ["libs/kernel/src", "@troupe/contracts", LAYER],
  ["libs/kernel/src", "zod", IMPORTS],
  ["libs/kernel/test", "@troupe/contracts", LAYER],
  ["libs/domain/context/src", "@troupe/inference", LAYER],
  ["libs/domain/context/src", "@troupe/kernel", LAYER],
  ["libs/domain/context/src", "@troupe/session", LAYER],
  ["libs/domain/context/src", "../../inference/src/index.js", ACROSS],
  ["libs/domain/session/src", "@troupe/jetstream", LAYER],
  ["libs/domain/session/src", "@troupe/platform", LAYER],
  ["libs/adapters/jetstream/src", "@troupe/session", LAYER],
  ["libs/adapters/jetstream/src", "@troupe/context", LAYER],
  ["libs/adapters/jetstream/src", "@troupe/model-openai", LAYER],
  ["libs/platform/src", "@troupe/session", LAYER],
  ["libs/platform/src", "@troupe/jetstream", LAYER],
  ["libs/testkit/src", "@troupe/session", LAYER],
  ["services/orchestrator/src", "@troupe/gateway-http", UNDECLARED],
  ["services/orchestrator/src", "../../gateway-http/src/wire.js", ACROSS],
  ["services/orchestrator/src", "lmdb", UNDECLARED],
  ["services/orchestrator/src", "@troupe/testkit", IMPORTS],
  ["libs/adapters/jetstream/src", "@troupe/testkit", IMPORTS],
  ["libs/platform/src", "@troupe/testkit", IMPORTS],
  ["deploy/local/src", "@troupe/testkit", IMPORTS],
  ["deploy/local/src", "@troupe/session", LAYER],
  ["services/orchestrator/src", "@nats-io/jetstream", CLIENT],
  ["libs/testkit/src", "@nats-io/transport-node", CLIENT],
  ["services/offline-model/src", "openai", CLIENT],
  ["libs/adapters/jetstream/src", "pino", CLIENT],
  ["services/orchestrator/src", "prom-client", CLIENT],
  ["services/offline-model/src", "fastify", CLIENT],
];

const ALLOWED: [folder: string, imported: string][] = [
  ["libs/contracts/src", "zod"],
  ["libs/contracts/src", "@noble/hashes/sha2.js"],
  ["libs/domain/context/src", "@troupe/contracts"],
  ["libs/domain/session/src", "@troupe/context"],
  ["libs/domain/session/src", "@troupe/kernel"],
  ["libs/adapters/jetstream/src", "@nats-io/jetstream"],
  ["libs/adapters/jetstream/src", "@troupe/kernel"],
  ["libs/adapters/jetstream/test", "@troupe/testkit"],
  ["libs/adapters/model-openai/src", "openai"],
  ["libs/platform/src", "pino"],
  ["libs/testkit/src", "node:child_process"],
  ["services/orchestrator/src", "@troupe/session"],
  ["services/orchestrator/test", "@troupe/testkit"],
  ["services/gateway-http/src", "fastify"],
  ["deploy/local/src", "@troupe/jetstream"],
  ["test/integration", "openai"],
  ["test/integration", "@troupe/session"],
];

const lines = (count: number): string => "export {};\n".repeat(count);
const functionOf = (count: number): string =>
  `export function x(): number {\n${"  //\n".repeat(count - 3)}  return 1;\n}\n`;
const ENVIRONMENT = `export const x = process.env["A"];`;

const CODE: [file: string, source: string, rule: string][] = [
  ["libs/platform/src/long.ts", lines(301), "eslint(max-lines)"],
  ["libs/platform/test/long.test.ts", lines(301), "eslint(max-lines)"],
  ["libs/platform/src/long-function.ts", functionOf(61), "eslint(max-lines-per-function)"],
  [
    "libs/platform/src/wide.ts",
    "export const f = (a: 1, b: 1, c: 1, d: 1, e: 1) => [a, b, c, d, e];",
    "eslint(max-params)",
  ],
  ["libs/platform/src/default.ts", "export default 1;", "import(no-default-export)"],
  ["libs/platform/src/star.ts", `export * from "./wide.js";`, "troupe(no-export-star)"],
  ["libs/platform/src/any.ts", "export const x: any = 1;", "typescript(no-explicit-any)"],
  ["libs/platform/src/camelCase.ts", "export {};", "troupe(file-name)"],
  ["libs/platform/src/utils.ts", "export {};", "troupe(file-name)"],
  ["libs/platform/src/session-manager.ts", "export {};", "troupe(file-name)"],
  ["libs/platform/src/common/port.ts", "export {};", "troupe(file-name)"],
  ["libs/platform/test/helpers.ts", "export {};", "troupe(file-name)"],
  ["libs/platform/src/floating.ts", "export const f = async () => 1; f();", "typescript(no-floating-promises)"],
  ["libs/platform/test/floating.test.ts", "export const f = async () => 1; f();", "typescript(no-floating-promises)"],
  [
    "libs/platform/src/misused.ts",
    "export const f = async () => true; export const x = [1].filter(f) && f() ? 1 : 2;",
    "typescript(no-misused-promises)",
  ],
  ["libs/platform/src/awaited.ts", "export const f = async (x: number) => { await x; };", "typescript(await-thenable)"],
  [
    "libs/platform/src/switched.ts",
    `export function f(x: "a" | "b"): void { switch (x) { case "a": break; } }`,
    "typescript(switch-exhaustiveness-check)",
  ],
  ["services/orchestrator/src/environment.ts", ENVIRONMENT, PROPERTIES],
  ["libs/adapters/jetstream/src/environment.ts", ENVIRONMENT, PROPERTIES],
  [
    "services/orchestrator/src/imported-environment.ts",
    `import { env } from "node:process"; export const x = env;`,
    IMPORTS,
  ],
  ["services/orchestrator/src/signal.ts", `process.on("SIGTERM", () => 1);`, PROPERTIES],
];

const CLEAN: [file: string, source: string][] = [
  ["libs/platform/src/at-limit.ts", lines(300)],
  ["libs/platform/src/environment.ts", ENVIRONMENT],
  ["libs/platform/src/signal.ts", `process.once("SIGTERM", () => 1);`],
  ["deploy/local/src/environment.ts", ENVIRONMENT],
  ["libs/platform/src/function-at-limit.ts", functionOf(60)],
  ["libs/platform/test/long-function.test.ts", functionOf(61)],
  ["libs/platform/vite.config.ts", "export default {};"],
  ["libs/kernel/src/instant.ts", "export const f = (at: number) => new Date(at).toISOString();"],
  ["libs/kernel/test/clock.test.ts", `import "node:fs"; export const x = Date.now();`],
];

const importing = (imported: string): string => `import * as planted from "${imported}";\nexport const x = planted;\n`;

function planted(): { violations: Violation[]; clean: { file: string; source: string }[] } {
  const impure = PURE_FOLDERS.flatMap((folder) =>
    PURITY.map(([source, rule], n) => ({
      title: `${folder}: ${source}`,
      file: `${folder}/impure-${n}.ts`,
      source,
      rule,
    })),
  );
  const crossing = BOUNDARIES.map(([folder, imported, rule], n) => ({
    title: `${folder} imports ${imported}`,
    file: `${folder}/crossing-${n}.ts`,
    source: importing(imported),
    rule,
  }));
  const code = CODE.map(([file, source, rule]) => ({ title: file, file, source, rule }));
  const allowed = ALLOWED.map(([folder, imported], n) => ({
    file: `${folder}/allowed-${n}.ts`,
    source: importing(imported),
  }));
  const clean = [...allowed, ...CLEAN.map(([file, source]) => ({ file, source }))];
  return { violations: [...impure, ...crossing, ...code], clean };
}

describe("lint", () => {
  const { violations, clean } = planted();
  const workspace = new PlantedWorkspace();
  let found: LintResult["findings"];
  const about = (file: string) => found.filter((one) => one.file === file).map((one) => one.text);

  beforeAll(async () => {
    const sources = [...violations, ...clean].map(({ file, source }) => [file, source] as const);
    found = (await workspace.lintAsDeclared(sources)).findings;
  });
  afterAll(() => workspace.remove());

  it.each(violations)("refuses $title", ({ file, rule }) => {
    expect(about(file)).toContainEqual(expect.stringContaining(rule));
  });

  it.each(clean)("has nothing against $file", ({ file }) => {
    expect(about(file)).toEqual([]);
  });
});

describe("npm run lint", () => {
  const workspace = new PlantedWorkspace();
  afterAll(() => workspace.remove());

  it("holds the layers in a fresh clone, where Nx has read no project yet", async () => {
    workspace.plant("libs/kernel/src/lease.ts", "export const leaseMs = 10_000;\n");
    workspace.plant("libs/domain/context/src/stage.ts", importing("@troupe/inference"));
    const { exitCode, findings } = await workspace.lint();
    expect(exitCode).toBe(1);
    expect(findings).toEqual([{ file: "libs/domain/context/src/stage.ts", text: expect.stringContaining(LAYER) }]);
  });
});
