// `quartermaster audit`: the tree of its verbs. What a verb does is in cli/commands/audit/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addNumberOptions } from "../../output/list-pages.ts";

/** Adds the noun to the tree (operator-experience.md section 1.2). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("audit")
    .description("Shows who changed what, proves that the log is whole, and hands it on.")
    .examples("quartermaster audit list --since 24h", "quartermaster audit verify");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    addNumberOptions(
      noun
        .command("list")
        .description("Lists who changed what, newest first.")
        .examples(
          "quartermaster audit list --since 24h --wide",
          "quartermaster audit list --actor ana@example.org --action user.update",
          "quartermaster audit list --since 2027-06-01 --until 2027-07-01 --json",
        )
        .option("--actor <actor>", "by this e-mail address, user id, login name, token or job")
        .option("--action <action>", "this action, such as user.update")
        .option("--target <id>", "changes of the thing with this id")
        .option("--since <time>", "from this time on: 24h (ago), a date in UTC, an RFC 3339 time")
        .option("--until <time>", "before this time"),
    )
      .printsTable()
      .action(domainAction(context, async () => (await import("./read.ts")).list)),
    noun
      .command("verify")
      .description("Compares every entry with its digest and with the entry before it.")
      .examples("quartermaster audit verify", "quartermaster audit verify --json")
      .printsJson()
      .action(domainAction(context, async () => (await import("./verify.ts")).verify)),
    noun
      .command("export")
      .description("Writes the log as JSON Lines, oldest first; --after goes on where another export ended.")
      .examples(
        "quartermaster audit export > audit.jsonl",
        "quartermaster audit export --out audit.jsonl",
        "quartermaster audit export --after 1204 --out audit-2.jsonl",
      )
      .option("--after <id>", "only what follows the entry with this id")
      .option("--out <file>", "a new file, readable by its owner alone, in place of standard output")
      .printsJson()
      .action(domainAction(context, async () => (await import("./read.ts")).exportLog)),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}
