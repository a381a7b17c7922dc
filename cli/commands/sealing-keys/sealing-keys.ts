// Defines `quartermaster sealing-keys` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addOptionsOf } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("sealing-keys")
    .description("Shows and rotates the keys that seal secrets in the database.")
    .examples("quartermaster sealing-keys list", "quartermaster sealing-keys rotate");

export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = noun
    .command("list")
    .description("Lists the current key and older keys, with the number of secrets sealed with each.")
    .examples("quartermaster sealing-keys list --wide", "quartermaster sealing-keys list --json")
    .printsTable()
    .action(readingAction(context, async () => (await import("./verbs.ts")).list));
  const rotating = noun
    .command("rotate")
    .description("Creates a new key file; the service reseals secrets that use older keys.")
    .examples("quartermaster sealing-keys rotate --dry-run", "quartermaster sealing-keys rotate --yes")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).rotate));
  for (const verb of [listing, rotating]) addOptionsOf(verb, ["data_dir", "keys.sealing_key"]);
}
