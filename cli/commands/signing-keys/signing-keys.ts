// Defines `quartermaster signing-keys` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("signing-keys")
    .description("Shows and rotates the keys that sign access tokens and inference tokens.")
    .examples("quartermaster signing-keys list", "quartermaster signing-keys rotate");

export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = noun
    .command("list")
    .description("Lists the current keys and retired keys that still verify tokens, newest first.")
    .examples("quartermaster signing-keys list", "quartermaster signing-keys list --json")
    .printsTable()
    .action(readingAction(context, async () => (await import("./verbs.ts")).list));
  const rotating = noun
    .command("rotate")
    .description("Creates a new signing key; tokens signed with the old key stay valid until they expire.")
    .examples(
      "quartermaster signing-keys rotate --dry-run",
      "quartermaster signing-keys rotate --yes",
      "quartermaster signing-keys rotate --inference --config /etc/quartermaster/quartermaster.yaml",
    )
    .option("--inference", "rotate the key for inference tokens instead of the key for access tokens")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).rotate));
  for (const verb of [listing, rotating]) addDirectoryOptions(verb);
}
