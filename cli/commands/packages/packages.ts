// Defines `quartermaster packages` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addFoldedSettingOptions } from "../../input/setting-options.ts";

const CONFIG = "--config /etc/quartermaster/quartermaster.yaml";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("packages")
    .description("Updates packages of the policy from the company's repositories.")
    .examples(
      `quartermaster packages update --from forge --dry-run ${CONFIG}`,
      `quartermaster packages update --from forge ${CONFIG}`,
    );

export function addVerbs(noun: CliCommand, context: Context): void {
  const updating = noun
    .command("update")
    .description(
      "Mirrors the current commits, shows the changed files, and publishes the policy once confirmed.",
    )
    .examples(
      `quartermaster packages update --from forge --dry-run ${CONFIG}`,
      `quartermaster packages update guide --from forge --ref v1.3.0 --yes ${CONFIG}`,
    )
    .argument("[packages...]", "ids of packages; all of the connection if omitted")
    .requiredOption("--from <connection>", "connection of the configuration file")
    .option("--ref <ref>", "branch, tag or whole commit to use instead of the one that each package follows")
    .option("--comment <text>", "reason, shown in the history")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./update.ts")).update));
  addFoldedSettingOptions(updating, "Catalog and policy settings:");
}
