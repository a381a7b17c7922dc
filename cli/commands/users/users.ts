// `quartermaster users`: the tree of its verbs. What a verb does is in cli/commands/users/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions, addSevereConfirmOptions } from "../../input/prompt.ts";
import { addSecretOptions } from "../../input/secret-input.ts";
import { addDirectoryOptions, addOptionsOf } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";

const USER = ["<user>", "e-mail address or id"] as const;
const ROLE = ["--role <role>", "admin or member"] as const;

/** Adds the noun to the tree (operator-experience.md section 1.2). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("users")
    .description("Shows, lets in and shuts out users.")
    .examples("quartermaster users list", "quartermaster users suspend ana@example.org");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    ...readingVerbs(noun, context),
    ...addEntryVerbs(noun, context),
    ...changingVerbs(noun, context),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
  addOptionsOf(inviting(noun, context), ["data_dir", "server.public_url", "server.listen"]);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addPageOptions(
    noun
      .command("list")
      .description("Lists users by address, removed ones included.")
      .examples(
        "quartermaster users list --role admin",
        "quartermaster users list --source scim --status suspended --json",
        "quartermaster users list --q example.org --limit 50 --page 2",
      )
      .option(...ROLE)
      .option("--status <status>", "active, suspended or removed")
      .option("--source <source>", "local, or scim for those of an identity provider"),
  )
    .printsTable()
    .action(domainAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one user.")
    .examples("quartermaster users show ana@example.org", "quartermaster users show ana@example.org --json")
    .argument(...USER)
    .printsJson()
    .action(domainAction(context, async () => (await import("./read.ts")).show)),
];

const addEntryVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addSecretOptions(
    noun
      .command("create")
      .description("Makes a user; without a given password one is generated and shown once.")
      .examples(
        "quartermaster users create ana@example.org --role member",
        "quartermaster users create ana@example.org --role admin --password-file password.txt",
      )
      .argument("<email>", "address of the user")
      .requiredOption(...ROLE),
    "password",
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./password.ts")).create)),
  addConfirmOptions(
    addSecretOptions(
      noun
        .command("reset-password")
        .description("Replaces a user's password and ends the user's logins.")
        .examples(
          "quartermaster users reset-password ana@example.org",
          "quartermaster users reset-password ana@example.org --yes --password-stdin < password.txt",
        )
        .argument(...USER),
      "password",
    ),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./password.ts")).resetPassword)),
];

const inviting = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("invite")
    .description("Invites an address for 24 hours and shows the link once.")
    .examples(
      "quartermaster users invite ana@example.org --role member",
      "quartermaster users invite ana@example.org --role admin --config /etc/quartermaster/quartermaster.yaml",
    )
    .argument("<email>", "address of the person to invite")
    .requiredOption(...ROLE)
    .printsJson()
    .action(domainAction(context, async () => (await import("./invite.ts")).invite));

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addConfirmOptions(
    noun
      .command("set-role")
      .description("Makes a user an administrator or a member, and ends the user's logins.")
      .examples(
        "quartermaster users set-role ana@example.org admin",
        "quartermaster users set-role ana@example.org member --dry-run",
      )
      .argument(...USER)
      .argument("<role>", "admin or member"),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).setRole)),
  addConfirmOptions(
    noun
      .command("suspend")
      .description("Shuts a user out until resumed, and ends the user's logins.")
      .examples(
        "quartermaster users suspend ana@example.org",
        "quartermaster users suspend ana@example.org --dry-run",
      )
      .argument(...USER),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).suspend)),
  noun
    .command("resume")
    .description("Lets a suspended user in again, with the old password.")
    .examples(
      "quartermaster users resume ana@example.org",
      "quartermaster users resume ana@example.org --json",
    )
    .argument(...USER)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).resume)),
  noun
    .command("unlock")
    .description("Forgets the wrong passwords tried for a user, so that sign-in works again at once.")
    .examples(
      "quartermaster users unlock ana@example.org",
      "quartermaster users unlock ana@example.org --json",
    )
    .argument(...USER)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).unlock)),
  addConfirmOptions(
    noun
      .command("remove")
      .description("Takes a user's access away for good; the record and its history stay.")
      .examples(
        "quartermaster users remove ana@example.org",
        "quartermaster users remove ana@example.org --dry-run",
      )
      .argument(...USER),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).remove)),
  addSevereConfirmOptions(
    noun
      .command("erase")
      .description("Erases everything about a person; the audit log names a pseudonym instead.")
      .examples(
        "quartermaster users erase ana@example.org --dry-run",
        "quartermaster users erase ana@example.org --confirm ana@example.org",
      )
      .argument(...USER),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./erase.ts")).erase)),
];
