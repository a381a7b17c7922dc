// `quartermaster keys`: the tree of its verbs. What a verb does is in cli/commands/keys/, loaded when it is used.
import { Option } from "commander";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";
import { STORED_STATES } from "./states.ts";

const USER = ["<user>", "e-mail address or id"] as const;
const CONFIG = "--config /etc/quartermaster/quartermaster.yaml";

/** Adds the noun to the tree (operator-experience.md section 1.2). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("keys")
    .description("Shows, makes, replaces and revokes the keys that users have at the inference gateway.")
    .examples(`quartermaster keys list ${CONFIG}`, `quartermaster keys ensure ana@example.org ${CONFIG}`);

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    ...readingVerbs(noun, context),
    ...makingVerbs(noun, context),
    revoking(noun, context),
    reconciling(noun, context),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addPageOptions(
    noun
      .command("list")
      .description("Lists keys by address, with what went wrong last and when they are looked at again.")
      .examples(
        "quartermaster keys list --problems",
        "quartermaster keys list --state error --json",
        "quartermaster keys list --q example.org --wide",
      )
      .addOption(new Option("--state <state>", "one state only").choices(STORED_STATES))
      .option("--problems", "only keys whose last attempt failed, and those that the gateway disowned"),
  )
    .printsTable()
    .action(domainAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one user's key; the key itself is shown to nobody.")
    .examples("quartermaster keys show ana@example.org", "quartermaster keys show ana@example.org --json")
    .argument(...USER)
    .printsJson()
    .action(domainAction(context, async () => (await import("./read.ts")).show)),
];

const makingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("ensure")
    .description("Gives a user a working key, or looks after the one there is when that is due.")
    .examples(
      `quartermaster keys ensure ana@example.org ${CONFIG}`,
      `quartermaster keys ensure ana@example.org --manual ${CONFIG}`,
    )
    .argument(...USER)
    .option("--manual", "at once, without waiting after failures")
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).ensure)),
  addConfirmOptions(
    noun
      .command("rotate")
      .description(
        "Replaces a user's key by a new one; the old one works for 5 minutes more. For a key that leaked: keys revoke.",
      )
      .examples(
        `quartermaster keys rotate ana@example.org ${CONFIG}`,
        `quartermaster keys rotate ana@example.org --dry-run ${CONFIG}`,
      )
      .argument(...USER),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).rotate)),
];

const revoking = (noun: CliCommand, context: Context): CliCommand =>
  addConfirmOptions(
    noun
      .command("revoke")
      .description("Takes a user's key away, here and at the gateway.")
      .examples(
        `quartermaster keys revoke ana@example.org ${CONFIG}`,
        `quartermaster keys revoke ana@example.org --dry-run ${CONFIG}`,
      )
      .argument(...USER),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).revoke));

const reconciling = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("reconcile")
    .description("Looks after every key and carries out what is to be revoked, now; lists what failed.")
    .examples(`quartermaster keys reconcile ${CONFIG}`, `quartermaster keys reconcile --json ${CONFIG}`)
    .printsJson()
    .action(domainAction(context, async () => (await import("./reconcile.ts")).reconcile));
