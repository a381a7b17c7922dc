// `quartermaster signing-keys`: the tree of its verbs. What a verb does is in cli/commands/signing-keys/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

/** Adds the noun to the tree. */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("signing-keys")
    .description("Shows and rotates the keys that sign access tokens and inference tokens.")
    .examples("quartermaster signing-keys list", "quartermaster signing-keys rotate");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = noun
    .command("list")
    .description("Lists the key in use and those that still verify, newest first.")
    .examples("quartermaster signing-keys list", "quartermaster signing-keys list --json")
    .printsTable()
    .action(domainAction(context, async () => (await import("./verbs.ts")).list));
  const rotating = addConfirmOptions(
    noun
      .command("rotate")
      .description("Makes a new signing key; tokens of the old one stay valid until they expire.")
      .examples(
        "quartermaster signing-keys rotate --dry-run",
        "quartermaster signing-keys rotate --yes",
        "quartermaster signing-keys rotate --inference --config /etc/quartermaster/quartermaster.yaml",
      )
      .option("--inference", "the key of inference tokens, in place of that of access tokens"),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).rotate));
  for (const verb of [listing, rotating]) addDirectoryOptions(verb);
}
