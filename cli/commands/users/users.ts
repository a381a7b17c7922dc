// Defines `quartermaster users` and its verbs. The code of a verb is loaded when it runs.
import { Argument, type Option } from "commander";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import {
  choiceOption,
  ROLE_CHOICES,
  SOURCE_CHOICES,
  USER_ACTION_CHOICES,
  USER_STATUS_CHOICES,
  WORKSTATIONS_CHOICES,
} from "../../input/choices.ts";
import { addConfirmOptions, addSevereConfirmOptions } from "../../input/prompt.ts";
import { addSecretOptions } from "../../input/secret-input.ts";
import { addDirectoryOptions, addOptionsOf } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";

const USER = ["<user>", "e-mail address or id"] as const;
const roleOption = (): Option => choiceOption("--role <role>", "role of the user", ROLE_CHOICES);

const GROUP = ["--group <group>", "members of this group: name or id"] as const;
const NOT_SEEN = [
  "--not-seen-for-days <days>",
  "users whose workstations have not reported for this many days, and users without one",
] as const;
const workstationsOption = (): Option =>
  choiceOption("--workstations <which>", "none: users without a workstation", WORKSTATIONS_CHOICES);

export const register = (program: CliCommand): CliCommand =>
  program
    .command("users")
    .description("Shows, creates, changes and removes users.")
    .examples("quartermaster users list", "quartermaster users suspend ana@example.org");

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    ...readingVerbs(noun, context),
    ...addEntryVerbs(noun, context),
    ...changingVerbs(noun, context),
    bulkVerb(noun, context),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
  for (const verb of linkingVerbs(noun, context))
    addOptionsOf(verb, ["data_dir", "server.public_url", "server.listen"]);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists users by e-mail address, including removed ones.")
    .examples(
      "quartermaster users list --role admin",
      "quartermaster users list --source scim --status suspended --json",
      "quartermaster users list --group engineering --workstations none",
    )
    .addOption(roleOption())
    .addOption(choiceOption("--status <status>", "only users with this status", USER_STATUS_CHOICES))
    .addOption(choiceOption("--source <source>", "scim: users of an identity provider", SOURCE_CHOICES))
    .option(...GROUP)
    .addOption(workstationsOption())
    .option(...NOT_SEEN)
    .with(addPageOptions)
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one user.")
    .examples("quartermaster users show ana@example.org", "quartermaster users show ana@example.org --json")
    .argument(...USER)
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
];

const addEntryVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("create")
    .description("Creates a user; a password is generated and shown once unless you provide one.")
    .examples(
      "quartermaster users create ana@example.org --role member",
      "quartermaster users create ana@example.org --role admin --password-file password.txt",
    )
    .argument("<email>", "e-mail address of the user")
    .addOption(roleOption().makeOptionMandatory())
    .with((verb) => addSecretOptions(verb, "password"))
    .printsJson()
    .action(domainAction(context, async () => (await import("./password.ts")).create)),
  noun
    .command("reset-password")
    .description("Replaces a user's password and ends the user's logins.")
    .examples(
      "quartermaster users reset-password ana@example.org",
      "quartermaster users reset-password ana@example.org --yes --password-stdin < password.txt",
    )
    .argument(...USER)
    .with((verb) => addSecretOptions(verb, "password"))
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./password.ts")).resetPassword)),
  noun
    .command("reset-second-factor")
    .description("Removes a user's second factors and recovery codes, and signs the user's browsers out.")
    .examples(
      "quartermaster users reset-second-factor ana@example.org",
      "quartermaster users reset-second-factor ana@example.org --dry-run",
    )
    .argument(...USER)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./second-factor.ts")).resetSecondFactor)),
];

/** These print a link, which needs the origin of the service. */
const linkingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("invite")
    .description("Creates an invitation for 24 hours and shows its link once.")
    .examples(
      "quartermaster users invite ana@example.org --role member",
      "quartermaster users invite ana@example.org --role admin --config /etc/quartermaster/quartermaster.yaml",
    )
    .argument("<email>", "e-mail address of the person to invite")
    .addOption(roleOption().makeOptionMandatory())
    .printsJson()
    .action(domainAction(context, async () => (await import("./invite.ts")).invite)),
  noun
    .command("password-link")
    .description("Creates a link that lets a user set a new password within 24 hours, and shows it once.")
    .examples(
      "quartermaster users password-link ana@example.org",
      "quartermaster users password-link ana@example.org --yes --json",
    )
    .argument(...USER)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./password.ts")).passwordLink)),
];

/** The verb for many users at once. */
const bulkVerb = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("change")
    .description("Changes several users at once: named ones, or all that match the options.")
    .examples(
      "quartermaster users change suspend ana@example.org bob@example.org",
      "quartermaster users change end_logins --role member --dry-run",
      "quartermaster users change suspend --not-seen-for-days 90 --status active --yes",
    )
    .addArgument(new Argument("<action>", "the change").choices(USER_ACTION_CHOICES))
    .argument("[users...]", "e-mail addresses or ids")
    .option("--q <text>", "users whose address contains this text")
    .addOption(choiceOption("--role <role>", "users with this role", ROLE_CHOICES))
    .addOption(choiceOption("--status <status>", "users with this status", USER_STATUS_CHOICES))
    .addOption(choiceOption("--source <source>", "scim: users of an identity provider", SOURCE_CHOICES))
    .option(...GROUP)
    .addOption(workstationsOption())
    .option(...NOT_SEEN)
    .option("--all", "all users")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./bulk.ts")).change));

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("set-role")
    .description("Makes a user an administrator or a member, and ends the user's logins.")
    .examples(
      "quartermaster users set-role ana@example.org admin",
      "quartermaster users set-role ana@example.org member --dry-run",
    )
    .argument(...USER)
    .argument("<role>", "admin or member")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).setRole)),
  noun
    .command("suspend")
    .description("Blocks a user until resumed, and ends the user's logins.")
    .examples(
      "quartermaster users suspend ana@example.org",
      "quartermaster users suspend ana@example.org --dry-run",
    )
    .argument(...USER)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).suspend)),
  noun
    .command("resume")
    .description("Restores the access of a suspended user, with the old password.")
    .examples(
      "quartermaster users resume ana@example.org",
      "quartermaster users resume ana@example.org --json",
    )
    .argument(...USER)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).resume)),
  noun
    .command("unlock")
    .description("Clears the failed sign-ins of a user, so that the user can sign in again immediately.")
    .examples(
      "quartermaster users unlock ana@example.org",
      "quartermaster users unlock ana@example.org --json",
    )
    .argument(...USER)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).unlock)),
  ...removingVerbs(noun, context),
];

const removingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("remove")
    .description("Removes a user's access permanently; the record and its history stay.")
    .examples(
      "quartermaster users remove ana@example.org",
      "quartermaster users remove ana@example.org --dry-run",
    )
    .argument(...USER)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).remove)),
  noun
    .command("erase")
    .description("Erases all data about a person; the audit log shows a pseudonym instead.")
    .examples(
      "quartermaster users erase ana@example.org --dry-run",
      "quartermaster users erase ana@example.org --confirm ana@example.org",
    )
    .argument(...USER)
    .with(addSevereConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./erase.ts")).erase)),
];
