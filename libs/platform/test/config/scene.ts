import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { z } from "zod";
import { Config, ConfigError, loadConfig } from "../../src/index.js";
import { scratchFolder } from "../fixture-process.js";

/** A data folder of its own, with files in it, and an environment that sees nothing else. */
export class Scene {
  readonly folder = scratchFolder();
  readonly env: Record<string, string> = { TROUPE_DATA: this.folder };

  /** Writes a file and returns its path. */
  file(name: string, content: unknown): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  /** Uses this text as `troupe.yaml`. */
  yaml(text: string): this {
    this.env.TROUPE_CONFIG = this.file("troupe.yaml", text);
    return this;
  }

  set(env: Record<string, string>): this {
    Object.assign(this.env, env);
    return this;
  }

  load<S extends z.ZodType>(schema: S): z.output<S> {
    return loadConfig(schema, { env: this.env, argv: [] });
  }

  /** Everything but what needs a NATS server or a model server. */
  basics() {
    return this.load(Config.omit({ nats: true, provider: true, providers: true }));
  }

  /** What is wrong, one line per problem. */
  problems(schema: z.ZodType = Config.omit({ nats: true, provider: true, providers: true })): string[] {
    try {
      this.load(schema);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.map(({ where, message }) => `${where}: ${message}`);
      throw error;
    }
    return [];
  }
}
