// Defines `quartermaster policy draft` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

const OWNER = "e-mail address or id of the administrator";

/** Adds the noun below `policy`, with its verbs. */
export function addDraftVerbs(policy: CliCommand, context: Context): void {
  const noun = policy
    .command("draft")
    .description("Shows, publishes and discards the drafts that administrators write in the console.")
    .examples("quartermaster policy draft list", "quartermaster policy draft show ana@example.org");
  const verbs = [...readingVerbs(noun, context), ...changingVerbs(noun, context)];
  for (const verb of verbs) addDirectoryOptions(verb);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists the drafts of all administrators, the oldest save first.")
    .examples("quartermaster policy draft list", "quartermaster policy draft list --json")
    .printsTable()
    .action(readingAction(context, async () => (await import("./draft.ts")).list)),
  noun
    .command("show")
    .description("Shows what publishing a draft would change, and what prevents it.")
    .examples(
      "quartermaster policy draft show ana@example.org",
      "quartermaster policy draft show ana@example.org --json",
    )
    .argument("<administrator>", OWNER)
    .printsJson()
    .action(readingAction(context, async () => (await import("./draft.ts")).show)),
  noun
    .command("export")
    .description("Prints a draft in the format that `policy apply` accepts; audiences are not part of it.")
    .examples(
      "quartermaster policy draft export ana@example.org > policy.yaml",
      "quartermaster policy draft export ana@example.org --json",
    )
    .argument("<administrator>", OWNER)
    .printsJson()
    .action(readingAction(context, async () => (await import("./draft.ts")).exportDraft)),
];

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("publish")
    .description("Publishes a draft and its audiences as one revision, and removes the draft.")
    .examples(
      "quartermaster policy draft publish ana@example.org --dry-run",
      "quartermaster policy draft publish ana@example.org --yes --comment 'new models'",
    )
    .argument("<administrator>", OWNER)
    .option("--comment <text>", "reason, shown in the history")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./draft.ts")).publish)),
  noun
    .command("discard")
    .description("Discards a draft. Its changes cannot be restored.")
    .examples(
      "quartermaster policy draft discard ana@example.org --dry-run",
      "quartermaster policy draft discard ana@example.org --yes",
    )
    .argument("<administrator>", OWNER)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./draft.ts")).discard)),
];
