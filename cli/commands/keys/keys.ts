// Defines `quartermaster keys` and its verbs. The code of a verb is loaded when it runs.
import { Argument, Option } from "commander";
import { STORED_STATES } from "../../../src/domain/gateway/administration/stored-states.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { KEY_ACTION_CHOICES } from "../../input/choices.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";

const USER = ["<user>", "e-mail address or id"] as const;
const OF_USER = ["--user <user>", "only the key of this user: e-mail address or id"] as const;
const WITHIN = ["--expires-within <time>", "only keys that expire in this time: 7d, 12h or 30m"] as const;
const PROBLEMS = [
  "--problems",
  "only keys whose last attempt failed or that the gateway reported invalid",
] as const;
const stateOption = () => new Option("--state <state>", "only keys in this state").choices(STORED_STATES);
const CONFIG = "--config /etc/quartermaster/quartermaster.yaml";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("keys")
    .description("Shows, creates, rotates and revokes the keys of users at the inference gateway.")
    .examples(`quartermaster keys list ${CONFIG}`, `quartermaster keys ensure ana@example.org ${CONFIG}`);

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    ...readingVerbs(noun, context),
    ...makingVerbs(noun, context),
    revoking(noun, context),
    changingMany(noun, context),
    reconciling(noun, context),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists keys by e-mail address, with the last problem and the time of the next attempt.")
    .examples(
      "quartermaster keys list --state error --json",
      "quartermaster keys list --expires-within 7d",
      "quartermaster keys list --q example.org --wide",
    )
    .option(...OF_USER)
    .addOption(stateOption())
    .option(...WITHIN)
    .option(...PROBLEMS)
    .with(addPageOptions)
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows the facts about one user's key, but never the key itself.")
    .examples("quartermaster keys show ana@example.org", "quartermaster keys show ana@example.org --json")
    .argument(...USER)
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
];

const makingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("ensure")
    .description("Creates a key for a user, or reconciles the existing key if that is due.")
    .examples(
      `quartermaster keys ensure ana@example.org ${CONFIG}`,
      `quartermaster keys ensure ana@example.org --manual ${CONFIG}`,
    )
    .argument(...USER)
    .option("--manual", "try immediately, without the delay after failures")
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).ensure)),
  noun
    .command("rotate")
    .description(
      "Replaces a user's key; the old key keeps working for 5 minutes. If a key leaked, use `keys revoke`.",
    )
    .examples(
      `quartermaster keys rotate ana@example.org ${CONFIG}`,
      `quartermaster keys rotate ana@example.org --dry-run ${CONFIG}`,
    )
    .argument(...USER)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).rotate)),
];

const revoking = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("revoke")
    .description("Revokes a user's key, here and at the gateway.")
    .examples(
      `quartermaster keys revoke ana@example.org ${CONFIG}`,
      `quartermaster keys revoke ana@example.org --dry-run ${CONFIG}`,
    )
    .argument(...USER)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./change.ts")).revoke));

const changingMany = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("change")
    .description("Changes the keys of several users at once: named ones, or all that match the options.")
    .examples(
      `quartermaster keys change revoke ana@example.org bob@example.org ${CONFIG}`,
      `quartermaster keys change ensure --problems --dry-run ${CONFIG}`,
      `quartermaster keys change rotate --expires-within 7d --yes ${CONFIG}`,
    )
    .addArgument(new Argument("<action>", "the change").choices(KEY_ACTION_CHOICES))
    .argument("[users...]", "e-mail addresses or ids")
    .option("--q <text>", "keys of users whose address contains this text")
    .option(...OF_USER)
    .addOption(stateOption())
    .option(...WITHIN)
    .option(...PROBLEMS)
    .option("--all", "the keys of all users")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./bulk.ts")).change));

const reconciling = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("reconcile")
    .description("Reconciles every key and carries out pending revocations now; lists failures.")
    .examples(`quartermaster keys reconcile ${CONFIG}`, `quartermaster keys reconcile --json ${CONFIG}`)
    .printsJson()
    .action(domainAction(context, async () => (await import("./reconcile.ts")).reconcile));
