// Gives every workspace project the same targets, so that a new project needs no build configuration of its
// own: what runs is decided here, when it runs again is decided by `targetDefaults` in `nx.json`.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createNodesFromFiles } from "@nx/devkit";

const PROJECTS = "{libs/*,libs/{domain,adapters}/*,services/*,deploy/*,test}/package.json";
const SYSTEM_TESTS = '--project process --exclude "{libs,services,deploy}/**"';

export const name = "troupe-targets";

export const createNodesV2 = [
  PROJECTS,
  (files, options, context) => createNodesFromFiles(targetsOf, files, options, context),
];

function targetsOf(file, _options, context) {
  const root = dirname(file);
  // Vitest takes a filter as a part of a path, and "test/" would be a part of every test's.
  const tests = root === "test" ? SYSTEM_TESTS : `${root}/`;
  const targets = {
    lint: fromWorkspaceRoot(`oxlint ${root}`),
    // Projects without tests pass: which suites must exist is not for the task runner to say.
    test: fromWorkspaceRoot(`vitest run ${tests} --passWithNoTests`),
  };
  if (existsSync(join(context.workspaceRoot, root, "tsconfig.json"))) {
    targets.build = fromWorkspaceRoot(`tsc -b ${root}`);
  }
  return { projects: { [root]: { root, targets } } };
}

function fromWorkspaceRoot(command) {
  return { executor: "nx:run-commands", options: { command, cwd: "{workspaceRoot}" } };
}
