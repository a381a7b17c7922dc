// Defines `quartermaster policy` and its verbs. The code of a verb is loaded when it runs.

import { HARNESS_KEYS } from "../../../src/domain/harnesses/harnesses.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { choiceOption } from "../../input/choices.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addDraftVerbs } from "./draft-verbs.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("policy")
    .description("Shows, checks and publishes the policy for all workstations.")
    .examples("quartermaster policy show", "quartermaster policy apply policy.yaml --dry-run");

const PLACES = "paths as `policy conflicts list` prints them";

/** Adds the noun below `policy`, with its verbs. */
function addConflictVerbs(policy: CliCommand, context: Context): void {
  const noun = policy
    .command("conflicts")
    .description("Resolves conflicts between the policy and the configuration file.")
    .examples(
      "quartermaster policy conflicts list",
      "quartermaster policy conflicts keep /ttl_seconds --yes",
    );
  const list = noun
    .command("list")
    .description("Lists the conflicts, with the current value and the value in the file.")
    .examples("quartermaster policy conflicts list", "quartermaster policy conflicts list --json")
    .printsJson()
    .action(readingAction(context, async () => (await import("./conflicts.ts")).list));
  const keep = noun
    .command("keep")
    .description("Keeps the current values. A conflict is listed again only if the file changes there.")
    .examples(
      "quartermaster policy conflicts keep /ttl_seconds --dry-run",
      "quartermaster policy conflicts keep /ttl_seconds --yes",
    )
    .argument("<place...>", PLACES)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./conflicts.ts")).keep));
  const take = noun
    .command("take")
    .description("Publishes the policy with the values that the file had when the service last read it.")
    .examples(
      "quartermaster policy conflicts take /ttl_seconds --dry-run",
      "quartermaster policy conflicts take /ttl_seconds --yes --comment 'as in the file'",
    )
    .argument("<place...>", PLACES)
    .option("--comment <text>", "reason, shown in the history")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./conflicts.ts")).take));
  for (const verb of [list, keep, take]) addDirectoryOptions(verb);
}

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    ...readingVerbs(noun, context),
    explaining(noun, context),
    previewing(noun, context),
    following(noun, context),
    ...changingVerbs(noun, context),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
  addDraftVerbs(noun, context);
  addConflictVerbs(noun, context);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("show")
    .description("Shows the current policy, or another revision, in the format that `policy apply` accepts.")
    .examples("quartermaster policy show", "quartermaster policy show 41", "quartermaster policy show --json")
    .argument("[revision]", "number or id of a revision")
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
  noun
    .command("export")
    .description(
      "Prints one file that reproduces the configuration and the current policy; secrets become references.",
    )
    .examples(
      "quartermaster policy export --config /etc/quartermaster/quartermaster.yaml > deployment.yaml",
      "quartermaster policy export --json",
    )
    .printsJson()
    .action(readingAction(context, async () => (await import("./export.ts")).exportDeployment)),
  noun
    .command("history")
    .description("Lists up to 100 revisions, the latest first.")
    .examples("quartermaster policy history", "quartermaster policy history --before 41 --json")
    .option("--before <revision>", "only revisions before this one (number or id)")
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).history)),
  noun
    .command("diff")
    .description("Shows the changes between two revisions; by default the changes of the current revision.")
    .examples(
      "quartermaster policy diff",
      "quartermaster policy diff 41",
      "quartermaster policy diff 41 43 --json",
    )
    .argument("[from]", "number or id of a revision (default: the previous one)")
    .argument("[to]", "number or id of a revision (default: the current one)")
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).diff)),
  noun
    .command("check")
    .description("Checks whether a file can be published as the policy, and reports all problems at once.")
    .examples(
      "quartermaster policy check policy.yaml",
      "quartermaster policy check quartermaster.yaml --json",
    )
    .argument("<file>", "policy, or a file with a section governance, in YAML or JSON")
    .printsJson()
    .action(readingAction(context, async () => (await import("./apply.ts")).check)),
];

const previewing = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("impact")
    .description(
      "Shows which users and workstations a policy file, or the draft of an administrator, would affect.",
    )
    .examples(
      "quartermaster policy impact policy.yaml",
      "quartermaster policy impact --draft ana@example.org --json",
    )
    .argument("[file]", "policy, or a file with a section governance, in YAML or JSON")
    .option("--draft <administrator>", "use the draft of this author instead of a file: e-mail address or id")
    .printsJson()
    .action(readingAction(context, async () => (await import("./impact.ts")).impact));

const following = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("rollout")
    .description(
      "Counts the workstations with and without a revision, by health, harness, client version and reason.",
    )
    .examples("quartermaster policy rollout", "quartermaster policy rollout 41 --json")
    .argument("[revision]", "number or id of a revision (default: the current one)")
    .printsJson()
    .action(readingAction(context, async () => (await import("./rollout.ts")).rollout));

const explaining = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("explain")
    .description(
      "Shows the settings and packages of one user on one harness, with their lines in `policy show`.",
    )
    .examples(
      "quartermaster policy explain --user ana@example.org --harness codex",
      "quartermaster policy explain --user ana@example.org --harness claude --installed 2.0.12 --json",
    )
    .requiredOption("--user <user>", "e-mail address or id")
    .addOption(choiceOption("--harness <harness>", "coding agent", HARNESS_KEYS).makeOptionMandatory())
    .option("--installed <version>", "installed version of the harness")
    .option("--revision <revision>", "number or id of a revision; by default the current one")
    .printsJson()
    .action(readingAction(context, async () => (await import("./explain.ts")).explain));

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("apply")
    .description(
      "Publishes a file as the complete policy. Everything that is not in the file is removed. Audiences stay.",
    )
    .examples(
      "quartermaster policy apply policy.yaml --dry-run",
      "quartermaster policy apply policy.yaml --yes --comment 'new models'",
      "quartermaster policy apply policy.yaml --base 41 --yes",
    )
    .argument("<file>", "policy, or a file with a section governance, in YAML or JSON")
    .option("--base <revision>", "publish only if this revision (number or id) is still the current one")
    .option("--comment <text>", "reason, shown in the history")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./apply.ts")).apply)),
  noun
    .command("rollback")
    .description("Publishes an earlier revision again, including its audiences.")
    .examples("quartermaster policy rollback 41 --dry-run", "quartermaster policy rollback 41 --yes")
    .argument("<revision>", "number or id of a revision")
    .option("--comment <text>", "reason, shown in the history")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./rollback.ts")).rollback)),
];
