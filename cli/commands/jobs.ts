// `quartermaster jobs`: the tree of its verbs. What a verb does is in cli/jobs/, loaded when it is used.
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { inDomain } from "../in-domain.ts";
import { addDirectoryOptions } from "../settings.ts";

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
      .action(inDomain(context, async () => (await import("../jobs/verbs.ts")).list)),
    noun
      .command("run")
      .description("Makes a job due now; the running service takes it within a second or two.")
      .examples("quartermaster jobs run access-sweep", "quartermaster jobs run gateway-reconcile --json")
      .argument(...NAME)
      .printsJson()
      .action(inDomain(context, async () => (await import("../jobs/verbs.ts")).run)),
    noun
      .command("pause")
      .description("Keeps a job from being run until it is resumed; a run under way goes on.")
      .examples("quartermaster jobs pause gateway-reconcile", "quartermaster jobs pause access-sweep --json")
      .argument(...NAME)
      .printsJson()
      .action(inDomain(context, async () => (await import("../jobs/verbs.ts")).pause)),
    noun
      .command("resume")
      .description("Lets a paused job run again, at once where its time has passed.")
      .examples(
        "quartermaster jobs resume gateway-reconcile",
        "quartermaster jobs resume access-sweep --json",
      )
      .argument(...NAME)
      .printsJson()
      .action(inDomain(context, async () => (await import("../jobs/verbs.ts")).resume)),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}
