// `quartermaster jobs`: the tree of its verbs. What a verb does is in cli/commands/jobs/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

const NAME = ["<name>", "name of the job, as `jobs list` shows it"] as const;

/** Adds the noun to the tree (operator-experience.md section 1.2). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("jobs")
    .description("Shows the scheduled work of the service, and runs, pauses and resumes it.")
    .examples("quartermaster jobs list", "quartermaster jobs run access-sweep");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    noun
      .command("list")
      .description("Lists jobs with their next time and their last result.")
      .examples("quartermaster jobs list --wide", "quartermaster jobs list --json")
      .printsTable()
      .action(domainAction(context, async () => (await import("./verbs.ts")).list)),
    noun
      .command("run")
      .description("Makes a job due now; the running service takes it within a second or two.")
      .examples("quartermaster jobs run access-sweep", "quartermaster jobs run gateway-reconcile --json")
      .argument(...NAME)
      .printsJson()
      .action(domainAction(context, async () => (await import("./verbs.ts")).run)),
    noun
      .command("pause")
      .description("Keeps a job from being run until it is resumed; a run under way goes on.")
      .examples("quartermaster jobs pause gateway-reconcile", "quartermaster jobs pause access-sweep --json")
      .argument(...NAME)
      .printsJson()
      .action(domainAction(context, async () => (await import("./verbs.ts")).pause)),
    noun
      .command("resume")
      .description("Lets a paused job run again, at once where its time has passed.")
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
