// Defines `quartermaster demo`, and runs it until a signal ends it. src/app/demo has the demo itself.
import { resolve } from "node:path";
import type { DemoOptions } from "../../../src/app/demo/demo.ts";
import { WORKSTATIONS_DEFAULT, WORKSTATIONS_MAX } from "../../../src/app/demo/limits.ts";
import { PORT_MAX } from "../../../src/platform/config/addresses.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { Interrupted } from "../../exit.ts";
import { parseWholeNumber } from "../../input/whole-number.ts";
import { createDisplay } from "./display.ts";

const DEFAULT_SEED = "1";

export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("demo")
    .description("Runs an example organization with simulated workstations, and removes it on Ctrl-C.")
    .examples(
      "quartermaster demo",
      "quartermaster demo --workstations 40 --port 8080",
      "quartermaster demo --json",
    )
    .action((options: DemoFlags, self: CliCommand) => demo(context, self, options));

export const addOptions = (command: CliCommand): CliCommand =>
  command
    .option(
      "--workstations <n>",
      `how many workstations to simulate, at most ${WORKSTATIONS_MAX} (default: ${WORKSTATIONS_DEFAULT})`,
    )
    .option("--port <n>", "port of 127.0.0.1 to listen on (default: a free one)")
    .option("--data-dir <path>", "empty or new directory for the demo (default: a temporary one)")
    .option("--seed <text>", `chooses names, users and versions (default: ${DEFAULT_SEED})`)
    .option("--json", "print events as JSON, one object per line; errors are JSON on stderr");

interface DemoFlags {
  workstations?: string;
  port?: string;
  dataDir?: string;
  seed?: string;
}

async function demo(context: Context, command: CliCommand, flags: DemoFlags): Promise<void> {
  const { clock, ids } = context;
  const limits = { max: WORKSTATIONS_MAX };
  const workstations = parseWholeNumber("--workstations", flags.workstations, limits) ?? WORKSTATIONS_DEFAULT;
  const port = parseWholeNumber("--port", flags.port, { min: 0, max: PORT_MAX }) ?? 0;
  using ending = endOnSignals(context);
  using display = createDisplay(context, command);
  const { seed = DEFAULT_SEED, dataDir } = flags;
  const directory = dataDir === undefined ? undefined : resolve(context.cwd, dataDir);
  const size = { workstations, port, seed };
  await run({ ...size, directory, clock, ids, report: display.report, signal: ending.signal }, context);
}

/** @throws DomainError `listen.in_use` with the option of this command in its hint */
async function run(options: DemoOptions, context: Context): Promise<void> {
  ignoreProxies(context);
  const { runDemo } = await import("../../../src/app/demo/demo.ts");
  try {
    await runDemo(options);
  } catch (error) {
    if (!(error instanceof DomainError && error.reason === "listen.in_use")) throw error;
    throw new DomainError(error.kind, error.reason, error.message, {
      hint: "choose another port with --port, or omit --port",
      cause: error,
    });
  }
}

/** Closing the terminal ends the demo, like Ctrl-C. */
function endOnSignals(context: Context): Disposable & { signal: AbortSignal } {
  const hangup = new AbortController();
  const listener = () => hangup.abort(new Interrupted("SIGTERM"));
  process.on("SIGHUP", listener);
  return {
    signal: AbortSignal.any([context.stopSignal(), hangup.signal]),
    [Symbol.dispose]: () => void process.off("SIGHUP", listener),
  };
}

/** The workstations connect only to this machine, which a proxy from the environment may not reach. */
function ignoreProxies({ env }: Context): void {
  for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]) {
    delete env[name];
    delete env[name.toLowerCase()];
  }
}
