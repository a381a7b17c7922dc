// Defines `quartermaster audit` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addNumberOptions } from "../../output/list-pages.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("audit")
    .description("Shows who changed what, verifies the audit log, and exports it.")
    .examples("quartermaster audit list --since 24h", "quartermaster audit verify");

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    noun
      .command("list")
      .description("Lists who changed what, newest first.")
      .examples(
        "quartermaster audit list --since 24h --wide",
        "quartermaster audit list --actor ana@example.org --action user.update",
        "quartermaster audit list --since 2027-06-01 --until 2027-07-01 --json",
      )
      .option("--actor <actor>", "only by this e-mail address, user id, login name, token or job")
      .option("--action <action>", "only this action, such as user.update")
      .option("--target <id>", "only changes to the object with this id")
      .option("--since <time>", "only from this time: 24h (ago), a date in UTC, or an RFC 3339 time")
      .option("--until <time>", "only before this time")
      .with(addNumberOptions)
      .printsTable()
      .action(readingAction(context, async () => (await import("./read.ts")).list)),
    noun
      .command("show")
      .description(
        "Shows one entry: the change, who made it, and the entries before and after it in the chain.",
      )
      .examples("quartermaster audit show 1204", "quartermaster audit show 1204 --json")
      .argument("<entry>", "id of the entry, as `audit list` shows it")
      .printsJson()
      .action(readingAction(context, async () => (await import("./read.ts")).show)),
    noun
      .command("verify")
      .description("Checks the digest of every entry, and that each entry follows the one before it.")
      .examples("quartermaster audit verify", "quartermaster audit verify --json")
      .printsJson()
      .action(readingAction(context, async () => (await import("./verify.ts")).verify)),
    noun
      .command("export")
      .description("Writes the log as JSON Lines, oldest first; --after continues an earlier export.")
      .examples(
        "quartermaster audit export > audit.jsonl",
        "quartermaster audit export --out audit.jsonl",
        "quartermaster audit export --after 1204 --out audit-2.jsonl",
      )
      .option("--after <id>", "only entries after the one with this id")
      .option("--out <file>", "write to a new file that only its owner can read, instead of standard output")
      .printsJson()
      .action(readingAction(context, async () => (await import("./read.ts")).exportLog)),
    noun
      .command("forwarding")
      .description("Shows which entries the receiver at audit.forward.url has, and why others wait.")
      .examples("quartermaster audit forwarding", "quartermaster audit forwarding --json")
      .printsJson()
      .action(readingAction(context, async () => (await import("./forwarding.ts")).forwarding)),
    noun
      .command("resend")
      .description("Sends all entries after a given one again, for a receiver that lost them.")
      .examples("quartermaster audit resend --after 1204", "quartermaster audit resend --after 0 --json")
      .requiredOption("--after <id>", "the last entry that the receiver still has; 0 for none")
      .printsJson()
      .action(domainAction(context, async () => (await import("./forwarding.ts")).resend)),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}
