// `quartermaster policy`: the tree of its verbs. What a verb does is in cli/commands/policy/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

/** Adds the noun to the tree (operator-experience.md section 1.2). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("policy")
    .description("Shows, checks and publishes the policy that every workstation follows.")
    .examples("quartermaster policy show", "quartermaster policy apply policy.yaml --dry-run");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [...readingVerbs(noun, context), explaining(noun, context), ...changingVerbs(noun, context)];
  for (const verb of verbs) addDirectoryOptions(verb);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("show")
    .description("Shows a policy as a file that `policy apply` accepts; the one in force without a revision.")
    .examples("quartermaster policy show", "quartermaster policy show 41", "quartermaster policy show --json")
    .argument("[revision]", "number or id of a revision")
    .printsJson()
    .action(domainAction(context, async () => (await import("./read.ts")).show)),
  noun
    .command("history")
    .description("Lists the newest revisions, the one in force first.")
    .examples("quartermaster policy history", "quartermaster policy history --json")
    .printsTable()
    .action(domainAction(context, async () => (await import("./read.ts")).history)),
  noun
    .command("diff")
    .description("Shows what changed between two revisions; without any, what the newest one changed.")
    .examples(
      "quartermaster policy diff",
      "quartermaster policy diff 41",
      "quartermaster policy diff 41 43 --json",
    )
    .argument("[from]", "number or id; the one before the other when left out")
    .argument("[to]", "number or id; the one in force when left out")
    .printsJson()
    .action(domainAction(context, async () => (await import("./read.ts")).diff)),
  noun
    .command("check")
    .description(
      "Tells whether a file is a policy that could be published now, with everything that is wrong.",
    )
    .examples(
      "quartermaster policy check policy.yaml",
      "quartermaster policy check quartermaster.yaml --json",
    )
    .argument("<file>", "policy, or a file with a section governance, in YAML or JSON")
    .printsJson()
    .action(domainAction(context, async () => (await import("./apply.ts")).check)),
];

const explaining = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("explain")
    .description("Tells what one user has on one harness, and which line of `policy show` it comes from.")
    .examples(
      "quartermaster policy explain --user ana@example.org --harness codex",
      "quartermaster policy explain --user ana@example.org --harness claude --installed 2.0.12 --json",
    )
    .requiredOption("--user <user>", "address or id")
    .requiredOption("--harness <harness>", "codex, claude, kimi or opencode")
    .option("--installed <version>", "installed version of the harness")
    .printsJson()
    .action(domainAction(context, async () => (await import("./explain.ts")).explain));

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addConfirmOptions(
    noun
      .command("apply")
      .description("Publishes a file as the policy, whole: what it leaves out is gone. Audiences stay.")
      .examples(
        "quartermaster policy apply policy.yaml --dry-run",
        "quartermaster policy apply policy.yaml --yes --comment 'new models'",
        "quartermaster policy apply policy.yaml --base 41 --yes",
      )
      .argument("<file>", "policy, or a file with a section governance, in YAML or JSON")
      .option("--base <revision>", "only if this revision, by number or id, is still in force")
      .option("--comment <text>", "why, for the history"),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./apply.ts")).apply)),
  addConfirmOptions(
    noun
      .command("rollback")
      .description("Publishes again what a former revision said, its audiences included.")
      .examples("quartermaster policy rollback 41 --dry-run", "quartermaster policy rollback 41 --yes")
      .argument("<revision>", "number or id of a revision")
      .option("--comment <text>", "why, for the history"),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./rollback.ts")).rollback)),
];
