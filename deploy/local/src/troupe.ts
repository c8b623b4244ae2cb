#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { runHere } from "./run-here.js";
import { reasonOf } from "./start-failure.js";
import { startableServices } from "./startable-services.js";
import { up } from "./up.js";

/** Commands that the terminal gateway has; it explains their arguments itself. */
const TERMINAL_COMMANDS = {
  chat: "talk to an agent in this terminal",
  sessions: "list sessions",
  dead: "look through what was given up on, retry or drop it",
};

const program = new Command("troupe").description("runs long-lived AI agents on your own machines").exitOverride();

program
  .command("up")
  .description("start NATS and all services here, then chat (the same as npm start)")
  .option("--fsync", "every acknowledged write is on the disk: survives power loss, costs speed")
  .option("--no-chat", "stay in the foreground with logs, even in a terminal")
  .action(async (options: { fsync?: boolean; chat: boolean }) => {
    process.exit(await up({ fsync: options.fsync === true, chat: options.chat }));
  });

program
  .command("start")
  .description("run one more service in the foreground, on this machine's NATS (or the one in NATS_URL)")
  .argument("<service>", "its name")
  .action(async (name: string) => {
    const services = await startableServices();
    if (!services.includes(name)) program.error(`error: unknown service '${name}', known are: ${services.join(", ")}`);
    if (process.stdout.isTTY) process.env.TROUPE_LOG ||= "pretty";
    await runHere(name, []);
  });

for (const [name, description] of Object.entries(TERMINAL_COMMANDS)) {
  program
    .command(name)
    .description(description)
    .argument("[arguments...]")
    .helpOption(false)
    .allowUnknownOption()
    .action((args: string[]) => runHere("gateway-cli", [name, ...args]));
}

program
  .command("doctor")
  .description("check this installation, one line for each finding")
  .action(async () => {
    // Only this command needs what reads the configuration; `up` stays small without it.
    const { inspectInstallation } = await import("./doctor.js");
    process.exitCode = (await inspectInstallation((line) => process.stdout.write(`${line}\n`))) ? 0 : 1;
  });

try {
  await program.parseAsync();
} catch (error) {
  // Commander has already said what is wrong with the usage; help and version are no errors.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  process.stderr.write(`troupe: ${reasonOf(error)}\n`);
  process.exit(1);
}
