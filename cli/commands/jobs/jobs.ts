// Defines `quartermaster jobs` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

const NAME = ["<name>", "name of the job, as `jobs list` shows it"] as const;

export const register = (program: CliCommand): CliCommand =>
  program
    .command("jobs")
    .description("Shows, runs, pauses and resumes the scheduled jobs of the service.")
    .examples("quartermaster jobs list", "quartermaster jobs run access-sweep");

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    noun
      .command("list")
      .description("Lists jobs with their next run and last result.")
      .examples("quartermaster jobs list --wide", "quartermaster jobs list --json")
      .printsTable()
      .action(readingAction(context, async () => (await import("./verbs.ts")).list)),
    noun
      .command("run")
      .description("Makes a job due now; the running service starts it within two seconds.")
      .examples("quartermaster jobs run access-sweep", "quartermaster jobs run gateway-reconcile --json")
      .argument(...NAME)
      .printsJson()
      .action(domainAction(context, async () => (await import("./verbs.ts")).run)),
    noun
      .command("pause")
      .description("Stops future runs of a job until it is resumed; a run in progress continues.")
      .examples("quartermaster jobs pause gateway-reconcile", "quartermaster jobs pause access-sweep --json")
      .argument(...NAME)
      .printsJson()
      .action(domainAction(context, async () => (await import("./verbs.ts")).pause)),
    noun
      .command("resume")
      .description("Resumes a paused job; it runs immediately if a run is overdue.")
      .examples(
        "quartermaster jobs resume gateway-reconcile",
        "quartermaster jobs resume access-sweep --json",
      )
      .argument(...NAME)
      .printsJson()
      .action(domainAction(context, async () => (await import("./verbs.ts")).resume)),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}
