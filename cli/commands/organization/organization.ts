// Defines `quartermaster organization` and its verbs. The code of the verbs is in rename.ts and is loaded when a verb runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("organization")
    .description("Shows and changes the name of the organization.")
    .examples("quartermaster organization show", "quartermaster organization rename 'Example Inc.'");

export function addVerbs(noun: CliCommand, context: Context): void {
  const showing = noun
    .command("show")
    .description("Shows the organization.")
    .examples("quartermaster organization show", "quartermaster organization show --json")
    .printsJson()
    .action(readingAction(context, async () => (await import("./rename.ts")).show));
  const renaming = noun
    .command("rename")
    .description("Renames the organization; users see the name when they sign in.")
    .examples(
      "quartermaster organization rename 'Example Inc.'",
      "quartermaster organization rename 'Example Inc.' --dry-run",
    )
    .argument("<new-name>", "1 to 200 characters")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./rename.ts")).rename));
  for (const verb of [showing, renaming]) addDirectoryOptions(verb);
}
