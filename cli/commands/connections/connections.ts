// Defines `quartermaster connections` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addFoldedSettingOptions } from "../../input/setting-options.ts";

const CONFIG = "--config /etc/quartermaster/quartermaster.yaml";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("connections")
    .description("Shows and verifies the connections to the company's git hosts.")
    .examples(
      `quartermaster connections list ${CONFIG}`,
      `quartermaster connections verify forge --repository acme/tools ${CONFIG}`,
    );

export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = noun
    .command("list")
    .description("Lists all connections of the configuration file, including disabled ones.")
    .examples(`quartermaster connections list ${CONFIG}`, "quartermaster connections list --json")
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list));
  const showing = noun
    .command("show")
    .description(
      "Shows one connection: its host, the namespaces it grants, and the outcome of its last request.",
    )
    .examples(`quartermaster connections show forge ${CONFIG}`, "quartermaster connections show forge --json")
    .argument("<id>", "id of the connection")
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show));
  const verifying = noun
    .command("verify")
    .description("Checks the host, its certificate and both clocks; with a repository also the credential.")
    .examples(
      `quartermaster connections verify forge ${CONFIG}`,
      `quartermaster connections verify forge --repository acme/tools --ref main ${CONFIG}`,
    )
    .argument("<id>", "id of the connection")
    .option("--repository <name>", "namespace/name of a repository to read")
    .option("--ref <ref>", "branch, tag or whole commit to look up there (default: main)")
    .printsJson()
    .action(domainAction(context, async () => (await import("./verify.ts")).verify));
  for (const verb of [listing, showing, verifying])
    addFoldedSettingOptions(verb, "Catalog and policy settings:");
}
