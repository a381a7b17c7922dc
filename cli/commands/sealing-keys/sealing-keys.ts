// `quartermaster sealing-keys`: the tree of its verbs. What a verb does is in cli/commands/sealing-keys/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addOptionsOf } from "../../input/setting-options.ts";

/** Adds the noun to the tree. */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("sealing-keys")
    .description("Shows and rotates the keys that seal secrets in the database.")
    .examples("quartermaster sealing-keys list", "quartermaster sealing-keys rotate");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = noun
    .command("list")
    .description("Lists the key in use and those before it, with how much is sealed under each.")
    .examples("quartermaster sealing-keys list --wide", "quartermaster sealing-keys list --json")
    .printsTable()
    .action(domainAction(context, async () => (await import("./verbs.ts")).list));
  const rotating = addConfirmOptions(
    noun
      .command("rotate")
      .description("Makes a new key file; the service seals anew what lies under older ones.")
      .examples("quartermaster sealing-keys rotate --dry-run", "quartermaster sealing-keys rotate --yes"),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).rotate));
  for (const verb of [listing, rotating]) addOptionsOf(verb, ["data_dir", "keys.sealing_key"]);
}
