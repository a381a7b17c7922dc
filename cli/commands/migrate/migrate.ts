// Defines `quartermaster migrate` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("migrate")
    .description("Shows the schema version of the database, and upgrades it to the version of this program.")
    .examples("quartermaster migrate status", "quartermaster migrate up --dry-run");

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    noun
      .command("status")
      .description("Lists applied and pending migrations.")
      .examples("quartermaster migrate status", "quartermaster migrate status --json")
      .printsTable()
      .action(settingsAction(context, async () => (await import("./verbs.ts")).status)),
    noun
      .command("up")
      .description("Copies the database and applies pending migrations, as the service does when it starts.")
      .examples("quartermaster migrate up --dry-run", "quartermaster migrate up")
      .option("--dry-run", "show what would be done, and change nothing")
      .printsJson()
      .action(settingsAction(context, async () => (await import("./verbs.ts")).up)),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}
