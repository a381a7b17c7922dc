// `quartermaster version`: what this executable is. The facts are in src/platform/version.ts.
import { API_CONTRACT, BUILD_TIME, COMMIT, VERSION } from "../../src/platform/version.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { outputFor } from "../output/output.ts";

/** Adds the command to the tree (operator-experience.md CLI-18). */
export function register(program: CliCommand, context: Context): void {
  program
    .command("version")
    .description("Prints version, commit, build time, runtime, and the schema and contract it speaks.")
    .examples("quartermaster version", "quartermaster version --json")
    .printsJson()
    .action((_options: unknown, command: CliCommand) => show(context, command));
}

async function show(context: Context, command: CliCommand): Promise<void> {
  const { programSchema } = await import("../../src/platform/database/schema/schema.ts");
  const facts = {
    version: VERSION,
    commit: COMMIT,
    build_time: BUILD_TIME,
    runtime: `bun ${Bun.version}`,
    schema: programSchema(),
    api_contract: API_CONTRACT,
  };
  const lines = Object.entries(facts).map(([name, value]) => `${name.padEnd(14)}${value ?? "-"}`);
  outputFor(context, command).result(facts, lines.join("\n"));
}
