// Defines `quartermaster replica` and its verb. run.ts carries it out.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("replica")
    .description("Makes Litestream recreate the replica of the database.")
    .examples(
      "quartermaster replica reset --config /etc/quartermaster/quartermaster.yaml --data-dir /var/lib/quartermaster",
      "quartermaster replica reset --if-doubtful",
    );

export function addVerbs(noun: CliCommand, context: Context): void {
  const reset = noun
    .command("reset")
    .description(
      "Makes Litestream begin its next start with a complete copy of the database. Litestream must be stopped.",
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
