// `quartermaster migrate`: the tree of its verbs. What a verb does is in cli/commands/migrate/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

/** Adds the noun to the tree (operator-experience.md section 1.2). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("migrate")
    .description("Shows the schema of the database, and brings it to that of this program.")
    .examples("quartermaster migrate status", "quartermaster migrate up --dry-run");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    noun
      .command("status")
      .description("Lists the migrations that the database has had, and those that it lacks.")
      .examples("quartermaster migrate status", "quartermaster migrate status --json")
      .printsTable()
      .action(settingsAction(context, async () => (await import("./verbs.ts")).status)),
    noun
      .command("up")
      .description("Applies what is missing, as the service does when it starts, after making a copy.")
      .examples("quartermaster migrate up --dry-run", "quartermaster migrate up")
      .option("--dry-run", "say what would be done, and change nothing")
      .printsJson()
      .action(settingsAction(context, async () => (await import("./verbs.ts")).up)),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}
