// Defines `quartermaster scim` and its verbs. The code of a verb is loaded when it runs.
import { Option } from "commander";
import { SCIM_PROFILES } from "../../../src/domain/scim/model.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions, addOptionsOf } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("scim")
    .description("Shows the state of provisioning by an identity provider (SCIM), and manages its tokens.")
    .examples("quartermaster scim status", "quartermaster scim tokens create entra --expires 180d");

export function addVerbs(noun: CliCommand, context: Context): void {
  const status = noun
    .command("status")
    .description("Shows provisioned users and groups, recent requests, and settings that have no effect.")
    .examples(
      "quartermaster scim status --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster scim status --json",
    )
    .printsJson()
    .action(readingAction(context, async () => (await import("./status.ts")).status));
  addOptionsOf(status, ["data_dir", "scim.token", "scim.group_role_mappings"]);
  addTokenVerbs(
    noun
      .command("tokens")
      .description("Creates, lists and revokes the tokens of identity providers.")
      .examples("quartermaster scim tokens list", "quartermaster scim tokens revoke entra"),
    context,
  );
}

function addTokenVerbs(noun: CliCommand, context: Context): void {
  for (const verb of [creating(noun, context), revoking(noun, context)]) addDirectoryOptions(verb);
  addOptionsOf(listing(noun, context), ["data_dir", "scim.token"]);
}

const creating = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("create")
    .description("Creates a token and shows it once; it is valid immediately, and other tokens stay valid.")
    .examples(
      "quartermaster scim tokens create okta",
      "quartermaster scim tokens create entra-2027 --profile entra --expires 180d",
      "quartermaster scim tokens create entra --expires 2027-06-30 --json",
    )
    .argument("<label>", "name of the token in lists, logs and the audit log")
    .addOption(
      new Option("--profile <profile>", "compatibility profile for an identity provider")
        .choices(SCIM_PROFILES)
        .default("standard"),
    )
    .option("--expires <when>", "days from now (90d), a date or an RFC 3339 time (default: never)")
    .printsJson()
    .action(domainAction(context, async () => (await import("./tokens.ts")).create));

const listing = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("list")
    .description(
      "Lists tokens, newest first, after the token of the configuration; --all includes revoked ones.",
    )
    .examples(
      "quartermaster scim tokens list --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster scim tokens list --all --wide",
      "quartermaster scim tokens list --json",
    )
    .option("--all", "include revoked tokens")
    .printsTable()
    .action(readingAction(context, async () => (await import("./tokens.ts")).list));

const revoking = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("revoke")
    .description("Revokes a token; the next request with it is refused.")
    .examples(
      "quartermaster scim tokens revoke entra --dry-run",
      "quartermaster scim tokens revoke entra --yes",
    )
    .argument("<token>", "label or id")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./tokens.ts")).revoke));
