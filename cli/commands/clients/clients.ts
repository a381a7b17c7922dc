// Defines `quartermaster clients` and its verbs. The code of a verb is loaded when it runs.
import { Option } from "commander";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";
import { HEALTHS } from "./health-values.ts";

const CLIENT = "id, host name or instance id";
const STALE = ["--stale <days>", "workstations that have not reported for this long, such as 90d"] as const;

/** Adds the noun to the command tree. */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("clients")
    .description("Shows the reports of workstations, and removes lost workstations.")
    .examples("quartermaster clients list --health attention", "quartermaster clients revoke lab-14");

/** Adds the verbs to the noun. */
export function addVerbs(noun: CliCommand, context: Context): void {
  for (const verb of [...addReadingVerbs(noun, context), ...addRemovalVerbs(noun, context)])
    addDirectoryOptions(verb);
}

const addReadingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addPageOptions(
    noun
      .command("list")
      .description("Lists workstations, most recently seen first.")
      .examples(
        "quartermaster clients list --health attention",
        "quartermaster clients list --user ana@example.org --json",
        "quartermaster clients list --stale 90d --wide",
      )
      .option("--user <user>", "workstations of this user: e-mail address or id")
      .addOption(new Option("--health <health>", "only workstations with this health").choices(HEALTHS))
      .option("--harness <name>", "workstations that report this harness")
      .option(...STALE),
  )
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one workstation with its harnesses and packages.")
    .examples("quartermaster clients show lab-14", "quartermaster clients show lab-14 --json")
    .argument("<client>", CLIENT)
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
];

const addRemovalVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addConfirmOptions(
    noun
      .command("remove")
      .description(
        "Removes workstations from the inventory; a workstation that reports again is added again.",
      )
      .examples("quartermaster clients remove lab-14", "quartermaster clients remove --stale 180d --yes")
      .argument("[client]", CLIENT)
      .option(...STALE),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).remove)),
  addConfirmOptions(
    noun
      .command("revoke")
      .description(
        "Removes workstations from the inventory and ends their logins; their next requests are refused.",
      )
      .examples(
        "quartermaster clients revoke lab-14",
        "quartermaster clients revoke --stale 90d --dry-run",
        "quartermaster clients revoke --stale 90d --yes",
      )
      .argument("[client]", CLIENT)
      .option(...STALE),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).revoke)),
];
