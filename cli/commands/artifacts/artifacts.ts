// Defines `quartermaster artifacts` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addFoldedSettingOptions } from "../../input/setting-options.ts";

const CONFIG = "--config /etc/quartermaster/quartermaster.yaml";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("artifacts")
    .description("Shows stored archives, mirrors commits of repositories, and removes archives.")
    .examples(
      "quartermaster artifacts list",
      `quartermaster artifacts create --connection forge --repository acme/tools --ref v1.2.0 ${CONFIG}`,
    );

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [...readingVerbs(noun, context), ...changingVerbs(noun, context)];
  for (const verb of verbs) addFoldedSettingOptions(verb);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description(
      "Lists stored archives with the commits they were mirrored from, and whether anything uses them.",
    )
    .examples("quartermaster artifacts list", "quartermaster artifacts list --json")
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one stored archive and the commits it was mirrored from.")
    .examples("quartermaster artifacts show ID", "quartermaster artifacts show ID --json")
    .argument("<id>", "id of the archive")
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
  noun
    .command("verify")
    .description("Checks the digest of one stored archive, or of all.")
    .examples("quartermaster artifacts verify", "quartermaster artifacts verify ID --json")
    .argument("[id]", "id of the archive; all if omitted")
    .printsTable()
    .action(readingAction(context, async () => (await import("./verify.ts")).verify)),
];

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("create")
    .description(
      "Mirrors one commit of a repository, and prints the package fields that refer to the archive.",
    )
    .examples(
      `quartermaster artifacts create --connection forge --repository acme/tools --ref main --dry-run ${CONFIG}`,
      `quartermaster artifacts create --connection forge --repository acme/tools --ref v1.2.0 --path guide ${CONFIG}`,
    )
    .requiredOption("--connection <id>", "connection of the configuration file")
    .requiredOption("--repository <name>", "namespace/name of the repository")
    .requiredOption("--ref <ref>", "branch, tag or whole commit")
    .option("--path <folder>", "folder of the repository that becomes the root of the archive")
    .option("--dry-run", "find the commit without downloading anything")
    .printsJson()
    .action(domainAction(context, async () => (await import("./create.ts")).create)),
  noun
    .command("remove")
    .description("Removes one stored archive, unless a revision, draft or catalog entry uses it.")
    .examples("quartermaster artifacts remove ID --dry-run", "quartermaster artifacts remove ID --yes")
    .argument("<id>", "id of the archive")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).remove)),
];
