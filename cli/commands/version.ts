// `quartermaster version`: prints the facts about this executable from src/platform/version.ts.
import { API_CONTRACT, BUILD_TIME, COMMIT, VERSION } from "../../src/platform/version.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { outputFor } from "../output/output.ts";

export function register(program: CliCommand, context: Context): void {
  program
    .command("version")
    .description("Prints version, commit, build time, runtime, schema and API contract.")
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
