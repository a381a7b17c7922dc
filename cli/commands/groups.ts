// `quartermaster groups`: the tree of its verbs. What a verb does is in cli/groups/, loaded when it is used.
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { inDomain } from "../in-domain.ts";
import { addPageOptions } from "../pages.ts";
import { addDirectoryOptions } from "../settings.ts";

/** Adds the noun to the tree. */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("groups")
    .description("Shows the groups that an identity provider has provisioned; they are changed there.")
    .examples("quartermaster groups list", "quartermaster groups show Engineering");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = addPageOptions(
    noun
      .command("list")
      .description("Lists groups by name.")
      .examples("quartermaster groups list", "quartermaster groups list --q eng --json"),
  )
    .printsTable()
    .action(inDomain(context, async () => (await import("../groups/read.ts")).list));
  const showing = noun
    .command("show")
    .description("Shows one group and its members.")
    .examples("quartermaster groups show Engineering", "quartermaster groups show Engineering --json")
    .argument("<group>", "name, id or external id")
    .printsJson()
    .action(inDomain(context, async () => (await import("../groups/read.ts")).show));
  for (const verb of [listing, showing]) addDirectoryOptions(verb);
}
