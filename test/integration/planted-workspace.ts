import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const CONFIGURATION = ".oxlintrc.json .tooling nx.json package.json package-lock.json tsconfig.base.json tsconfig.json";
const PROJECT_FOLDERS = ["libs", "services", "deploy", "test"];
const PROJECT_FILES = ["package.json", "tsconfig.json"];
const SOURCE_FOLDERS = ["node_modules", "dist", "src", "fixtures"];

/** One finding as oxlint's `unix` format prints it; a message may have several lines. */
/** A warning about a configuration is a line of its own too: it must not be read as the start of the next finding. */
const FINDING = /^(\S+?):\d+:\d+: ([\s\S]*?) \[(?:Error|Warning)\/(\S+)\]$/gm;

/** What the linter said: `file` is relative to the workspace, `text` is `<rule>: <message>`. */
export interface LintResult {
  readonly exitCode: number | null;
  readonly findings: readonly { readonly file: string; readonly text: string }[];
}

/**
 * A copy of this workspace that has its projects, tags and configuration but none of its sources. A violation
 * planted here is judged by the real rules and is never seen by a build or lint of the real tree.
 */
export class PlantedWorkspace {
  readonly #folder = mkdtempSync(join(tmpdir(), "troupe-lint-"));

  constructor() {
    for (const name of CONFIGURATION.split(" ")) {
      cpSync(join(ROOT, name), join(this.#folder, name), { recursive: true });
    }
    for (const name of PROJECT_FOLDERS) this.#copyProjects(join(ROOT, name));
    this.#linkModules();
  }

  /** Writes one source file; `file` is relative to the workspace. */
  plant(file: string, source: string): void {
    const path = join(this.#folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, source);
  }

  /**
   * Lints everything planted with `npm run lint`. Nx then counts planted imports as dependencies, so several
   * crossings at once may be reported as cycles; `lintAsDeclared` knows only what the packages declare.
   */
  lint(): Promise<LintResult> {
    return this.#lintWith("npm", ["run", "--silent", "lint", "--", "--format", "unix"]);
  }

  /** Plants the sources and lints them against the dependencies that the packages declare. */
  async lintAsDeclared(sources: Iterable<readonly [file: string, source: string]>): Promise<LintResult> {
    await this.#run("nx", ["show", "projects"]);
    for (const [file, source] of sources) this.plant(file, source);
    return this.#lintWith("oxlint", ["--format", "unix"]);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #lintWith(command: string, args: string[]): Promise<LintResult> {
    const { exitCode, output } = await this.#run(command, args);
    const findings = [...output.matchAll(FINDING)].map(([, file = "", message, rule]) => ({
      file,
      text: `${rule}: ${message}`,
    }));
    // A linter that could not start has found nothing either.
    if (exitCode !== 0 && findings.length === 0) throw new Error(output);
    return { exitCode, findings };
  }

  #run(command: string, args: string[]): Promise<{ exitCode: number | null; output: string }> {
    const bin = join(ROOT, "node_modules/.bin");
    const options = {
      cwd: this.#folder,
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` },
      maxBuffer: 16 * 1024 * 1024,
    };
    return new Promise((resolve) => {
      const child = execFile(command, args, options, (_failure, stdout, stderr) =>
        resolve({ exitCode: child.exitCode, output: `${stdout}${stderr}` }),
      );
    });
  }

  #copyProjects(folder: string): void {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!SOURCE_FOLDERS.includes(entry.name)) this.#copyProjects(path);
      } else if (PROJECT_FILES.includes(entry.name)) {
        cpSync(path, join(this.#folder, relative(ROOT, path)));
      }
    }
  }

  /** Installed packages are shared; `@troupe/*` links are copied as they are and so lead into the copy. */
  #linkModules(): void {
    const modules = join(this.#folder, "node_modules");
    mkdirSync(modules);
    for (const entry of readdirSync(join(ROOT, "node_modules"))) {
      const installed = join(ROOT, "node_modules", entry);
      if (entry === "@troupe") {
        cpSync(installed, join(modules, entry), { recursive: true, verbatimSymlinks: true });
      } else {
        symlinkSync(installed, join(modules, entry));
      }
    }
  }
}
