// Defines `quartermaster groups` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { readingAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("groups")
    .description("Shows the groups provisioned by an identity provider; change them there.")
    .examples("quartermaster groups list", "quartermaster groups show Engineering");

export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = noun
    .command("list")
    .description("Lists groups by name.")
    .examples("quartermaster groups list", "quartermaster groups list --q eng --json")
    .with(addPageOptions)
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list));
  const showing = noun
    .command("show")
    .description("Shows one group and its members.")
    .examples("quartermaster groups show Engineering", "quartermaster groups show Engineering --json")
    .argument("<group>", "name, id or external id")
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show));
  for (const verb of [listing, showing]) addDirectoryOptions(verb);
}
