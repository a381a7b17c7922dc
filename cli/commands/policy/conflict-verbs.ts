// Defines `quartermaster policy conflicts` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

const PLACES = "places as `policy conflicts list` prints them";

/** Adds the noun below `policy`, with its verbs. */
export function addConflictVerbs(policy: CliCommand, context: Context): void {
  const noun = policy
    .command("conflicts")
    .description("Settles places where the policy does not follow the configuration file.")
    .examples(
      "quartermaster policy conflicts list",
      "quartermaster policy conflicts keep /ttl_seconds --yes",
    );
  const list = noun
    .command("list")
    .description("Lists the places with the value in force and the value of the file.")
    .examples("quartermaster policy conflicts list", "quartermaster policy conflicts list --json")
    .printsJson()
    .action(readingAction(context, async () => (await import("./conflicts.ts")).list));
  const keep = addConfirmOptions(
    noun
      .command("keep")
      .description("Keeps the values in force. The places are listed again only if the file changes there.")
      .examples(
        "quartermaster policy conflicts keep /ttl_seconds --dry-run",
        "quartermaster policy conflicts keep /ttl_seconds --yes",
      )
      .argument("<place...>", PLACES),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./conflicts.ts")).keep));
  const take = addConfirmOptions(
    noun
      .command("take")
      .description("Publishes the policy with the values that the file had when the service last read it.")
      .examples(
        "quartermaster policy conflicts take /ttl_seconds --dry-run",
        "quartermaster policy conflicts take /ttl_seconds --yes --comment 'as in the file'",
      )
      .argument("<place...>", PLACES)
      .option("--comment <text>", "reason, shown in the history"),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./conflicts.ts")).take));
  for (const verb of [list, keep, take]) addDirectoryOptions(verb);
}
