// Defines `quartermaster identities` and its verbs. The code of a verb is loaded when it runs.
import { Option } from "commander";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

const USER = ["<user>", "e-mail address or id"] as const;
const ISSUER = ["--issuer <url>", "issuer of the provider (default: identity.oidc.issuer)"] as const;
const MOVE_CHOICES = ["external-id", "email"] as const;
const CONFIG = "--config /etc/quartermaster/quartermaster.yaml";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("identities")
    .description("Shows, creates and removes links between users and people at the identity provider.")
    .examples("quartermaster identities list", `quartermaster identities remove ana@example.org ${CONFIG}`);

export function addVerbs(noun: CliCommand, context: Context): void {
  for (const add of [listing, creating, removing]) addDirectoryOptions(add(noun, context));
}

const listing = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("list")
    .description("Lists identities at all providers, by user id and issuer.")
    .examples(
      "quartermaster identities list --user ana@example.org",
      "quartermaster identities list --issuer https://login.example.org --wide",
      "quartermaster identities list --json",
    )
    .option("--user <user>", "identities of this user: e-mail address or id")
    .option("--issuer <url>", "only identities at this provider, compared exactly")
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list));

const creating = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("create")
    .description(
      "Links a user to a person at the provider, who then signs in as this user; or prepares all users of a former provider for the one that replaces it.",
    )
    .examples(
      `quartermaster identities create ana@example.org --subject 00u1a2b3 ${CONFIG}`,
      "quartermaster identities create ana@example.org --subject 00u1a2b3 --issuer https://login.example.org --dry-run",
      `quartermaster identities create --from-issuer https://old.example.org --by email --dry-run ${CONFIG}`,
    )
    .argument("[user]", USER[1])
    .option("--subject <subject>", "claim `sub` of the person at the provider, exactly")
    .option(...ISSUER)
    .addOption(
      new Option(
        "--from-issuer <url>",
        "prepare the users of this former provider, exactly as identities list shows it",
      ).conflicts(["subject", "issuer"]),
    )
    .option("--to-issuer <url>", "issuer of the new provider (default: identity.oidc.issuer)")
    .addOption(
      new Option(
        "--by <way>",
        "how people are recognized there: the SCIM externalId, or the verified address",
      ).choices(MOVE_CHOICES),
    )
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./create.ts")).create));

const removing = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("remove")
    .description("Unlinks a user from the provider, and ends the user's logins.")
    .examples(
      `quartermaster identities remove ana@example.org ${CONFIG}`,
      "quartermaster identities remove ana@example.org --issuer https://login.example.org --yes",
    )
    .argument(...USER)
    .option(...ISSUER)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).remove));
