// Defines `quartermaster replica` and its verb. run.ts carries it out.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("replica")
    .description("Has Litestream make the replica of the database anew.")
    .examples(
      "quartermaster replica reset --config /etc/quartermaster/quartermaster.yaml --data-dir /var/lib/quartermaster",
      "quartermaster replica reset --if-doubtful",
    );

export function addVerbs(noun: CliCommand, context: Context): void {
  const reset = noun
    .command("reset")
    .description(
      "Has Litestream, which must be stopped, begin with a complete copy of the database at its next start.",
    )
    .examples(
      "quartermaster replica reset --config /etc/quartermaster/quartermaster.yaml --data-dir /var/lib/quartermaster",
      "quartermaster replica reset --if-doubtful --json",
    )
    .option("--if-doubtful", "only after the service was killed, or after a failed test restore")
    .printsJson()
    .action(settingsAction(context, async () => (await import("./run.ts")).reset));
  addDirectoryOptions(reset);
}
