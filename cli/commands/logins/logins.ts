// Defines `quartermaster logins` and its verbs. The code of a verb is loaded when it runs.
import { Option } from "commander";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { KINDS } from "./kinds.ts";

const EXAMPLE_ID = "01a1fde0-5c3e-7f6a-9d2b-1f6e5b9d3344";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("logins")
    .description("Shows and revokes device logins, browser login sessions, and workstation grants.")
    .examples("quartermaster logins list", "quartermaster logins revoke --user ana@example.org");

export function addVerbs(noun: CliCommand, context: Context): void {
  for (const verb of [...readingVerbs(noun, context), revoking(noun, context)]) addDirectoryOptions(verb);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists active logins, newest first; --all includes ended ones.")
    .examples(
      "quartermaster logins list --user ana@example.org",
      "quartermaster logins list --kind grant --json",
      "quartermaster logins list --all --wide",
    )
    .option("--user <user>", "logins of this user: e-mail address or id")
    .addOption(new Option("--kind <kind>", "only logins of this kind").choices(KINDS))
    .option("--all", "include ended logins that are still stored")
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one login.")
    .examples(`quartermaster logins show ${EXAMPLE_ID}`, `quartermaster logins show ${EXAMPLE_ID} --json`)
    .argument("<id>", "id of the login")
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
];

const revoking = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("revoke")
    .description("Ends one login, all logins of a user, or all logins; their next request is refused.")
    .examples(
      `quartermaster logins revoke ${EXAMPLE_ID}`,
      "quartermaster logins revoke --user ana@example.org --dry-run",
      "quartermaster logins revoke --all --yes",
    )
    .argument("[id]", "id of one login")
    .option("--user <user>", "every login of this user: e-mail address or id")
    .option("--except <id>", "with --user: keep this browser login; all workstations are signed out")
    .option("--all", "every login of every user")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./revoke.ts")).revoke));
