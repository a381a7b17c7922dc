// Defines `quartermaster clients` and its verbs. The code of a verb is loaded when it runs.

import { Option } from "commander";
import { STALE_AFTER_DAYS } from "../../../src/domain/clients/limits.ts";
import type { CountKind, Health, Sort } from "../../../src/domain/clients/model.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";

const CLIENT = "id, host name or instance id";
const STALE = ["--stale <days>", "workstations that have not reported for this long, such as 90d"] as const;

export const register = (program: CliCommand): CliCommand =>
  program
    .command("clients")
    .description("Shows the reports of workstations, and removes lost workstations.")
    .examples("quartermaster clients list --health attention", "quartermaster clients revoke lab-14");

export function addVerbs(noun: CliCommand, context: Context): void {
  for (const verb of [...addReadingVerbs(noun, context), ...addRemovalVerbs(noun, context)])
    addDirectoryOptions(verb);
}

const HEALTHS: readonly Health[] = ["current", "outdated", "attention"];
const COUNT_KINDS: readonly CountKind[] = ["health", "harness_version"];
const SORTS: readonly Sort[] = [
  "last_seen_desc",
  "last_seen_asc",
  "host_asc",
  "host_desc",
  "user_asc",
  "user_desc",
  "version_asc",
  "version_desc",
];

const addFilters = (verb: CliCommand): CliCommand =>
  verb
    .option("--user <user>", "workstations of this user: e-mail address or id")
    .addOption(new Option("--health <health>", "only workstations with this health").choices(HEALTHS))
    .option("--harness <name>", "workstations that report this harness")
    .option("--revision <revision>", "workstations that report this revision: its number or id")
    .option("--client-version <version>", "workstations with this version of the client")
    .option("--platform <platform>", "workstations on this platform, such as macos or macos-aarch64")
    .option(...STALE)
    .option("--recent", `workstations that have reported within ${STALE_AFTER_DAYS} days`)
    .option("--last-seen-from <time>", "last report on this day in UTC, or at this time, or later")
    .option("--last-seen-to <time>", "last report on this day in UTC or earlier, or before this time");

const addReadingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addFilters(
    noun
      .command("list")
      .description("Lists workstations, most recently seen first.")
      .examples(
        "quartermaster clients list --user ana@example.org --json",
        "quartermaster clients list --stale 90d --wide",
        "quartermaster clients list --summary --sort host_asc --json",
      ),
  )
    .addOption(new Option("--sort <order>", "order of the list (default: last_seen_desc)").choices(SORTS))
    .option("--summary", "count harnesses and packages instead of listing them")
    .with(addPageOptions)
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one workstation with its harnesses and packages.")
    .examples("quartermaster clients show lab-14", "quartermaster clients show lab-14 --json")
    .argument("<client>", CLIENT)
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
  noun
    .command("counts")
    .description("Counts workstations by health and by the versions of their harnesses.")
    .examples("quartermaster clients counts", "quartermaster clients counts --by health --json")
    .option("--by <kinds>", `one or more of ${COUNT_KINDS.join(", ")}, separated by commas (default: all)`)
    .printsJson()
    .action(readingAction(context, async () => (await import("./counts.ts")).counts)),
];

const addRemovalVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addFilters(
    noun
      .command("remove")
      .description(
        "Removes workstations from the inventory; a workstation that reports again is added again.",
      )
      .examples(
        "quartermaster clients remove lab-14 lab-15",
        "quartermaster clients remove --stale 180d --yes",
      )
      .argument("[clients...]", CLIENT),
  )
    .option("--q <text>", "workstations whose host name, instance id or user contains this text")
    .option("--all", "all workstations")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).remove)),
  addFilters(
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
      .argument("[clients...]", CLIENT),
  )
    .option("--q <text>", "workstations whose host name, instance id or user contains this text")
    .option("--all", "all workstations")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).revoke)),
];
