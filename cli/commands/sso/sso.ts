// Defines `quartermaster sso` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { readingAction } from "../../data-directory/in-domain.ts";
import { addFoldedSettingOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("sso")
    .description("Shows and verifies sign-in at the company's identity provider (OpenID Connect).")
    .examples(
      "quartermaster sso show --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster sso verify --config /etc/quartermaster/quartermaster.yaml",
    );

export function addVerbs(noun: CliCommand, context: Context): void {
  const showing = noun
    .command("show")
    .description("Shows what to register at the provider, and the outcome of the last sign-in.")
    .examples(
      "quartermaster sso show --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster sso show --json",
    )
    .printsJson()
    .action(readingAction(context, async () => (await import("./show.ts")).show));
  const verifying = noun
    .command("verify")
    .description("Checks the provider, its keys, both clocks and the client's credential; signs nobody in.")
    .examples(
      "quartermaster sso verify --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster sso verify --json",
      "quartermaster sso verify --claims claims.json --config /etc/quartermaster/quartermaster.yaml",
    )
    .option(
      "--claims <file>",
      "only show which account a person with these claims (JSON, - for stdin) would use",
    )
    .printsJson()
    .action(readingAction(context, async () => (await import("./verify.ts")).verify));
  for (const verb of [showing, verifying]) addFoldedSettingOptions(verb, "Identity and SCIM settings:");
}
