// Defines `quartermaster views` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

const USER = ["<user>", "owner of the view: e-mail address or id"] as const;
const EXAMPLE_ID = "01a1fde0-5c3e-7f6a-9d2b-1f6e5b9d3344";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("views")
    .description("Shows and changes what users save in the console: views, and columns and rows of lists.")
    .examples(
      "quartermaster views list ana@example.org",
      "quartermaster views create ana@example.org Administrators '/console/users?role=admin'",
    );

export function addVerbs(noun: CliCommand, context: Context): void {
  for (const verb of [listing(noun, context), ...changingVerbs(noun, context)]) addDirectoryOptions(verb);
}

const listing = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("list")
    .description("Lists the views of a user, and the lists with columns and rows that the user saved.")
    .examples("quartermaster views list ana@example.org", "quartermaster views list ana@example.org --json")
    .argument(...USER)
    .printsTable()
    .action(readingAction(context, async () => (await import("./verbs.ts")).list));

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("create")
    .description("Saves a view of a user, and replaces a view of the same list and name.")
    .examples(
      "quartermaster views create ana@example.org Administrators '/console/users?role=admin'",
      "quartermaster views create ana@example.org Lost '/console/clients?stale=true' --shared",
    )
    .argument(...USER)
    .argument("<name>", "name of the view")
    .argument("<address>", "path and query of a list of the console")
    .option("--shared", "show the view to all administrators; its owner must be one")
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).create)),
  noun
    .command("remove")
    .description("Removes a view of a user; the list and its rows stay.")
    .examples(
      `quartermaster views remove ana@example.org ${EXAMPLE_ID}`,
      `quartermaster views remove ana@example.org ${EXAMPLE_ID} --dry-run`,
    )
    .argument(...USER)
    .argument("<id>", "id of the view")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).remove)),
  noun
    .command("columns")
    .description(
      "Saves the default columns and rows of a list for a user; without any, restores the original ones.",
    )
    .examples(
      "quartermaster views columns ana@example.org '/console/users?columns=-source&per_page=50'",
      "quartermaster views columns ana@example.org /console/users",
    )
    .argument(...USER)
    .argument("<address>", "path and query of a list of the console")
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).columns)),
];
