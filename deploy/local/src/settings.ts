/**
 * Reads the configuration once, in a process of its own: what the configuration needs (schemas, YAML, logging) would
 * otherwise stay in the supervisor's memory for as long as the services run.
 *
 * Prints {@link UpSettings} as JSON; a configuration that is wrong goes to stderr with exit code 1.
 */
import { Config, ConfigError, ensureToken, loadConfig } from "@troupe/platform";

const Picked = Config.pick({ http: true, token: true, dataDir: true });

try {
  const config = loadConfig(Picked);
  const token = await ensureToken(config);
  const { host, port } = config.http;
  process.stdout.write(JSON.stringify({ host, port, token, offlineModel: !hasModel() }));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/**
 * Whether a model server is configured. The file of an earlier offline model is gone by now, and all other variables
 * have been found right above, so the one complaint left about the key is that there is none.
 */
function hasModel(): boolean {
  try {
    loadConfig(Config.pick({ provider: true }));
    return true;
  } catch (error) {
    if (!(error instanceof ConfigError) || !error.problems.every(({ where }) => where === "OPENAI_API_KEY"))
      throw error;
    return false;
  }
}
