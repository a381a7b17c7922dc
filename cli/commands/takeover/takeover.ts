// Defines `quartermaster takeover`. run.ts carries it out.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addSevereConfirmOptions } from "../../input/prompt.ts";
import { addFoldedSettingOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("takeover")
    .description(
      "Makes this machine the active one: restores the newest replica, begins a new term, and starts the service.",
    )
    .examples(
      "quartermaster takeover --config /etc/quartermaster/quartermaster.yaml --data-dir /var/lib/quartermaster --dry-run",
      "quartermaster takeover --config /etc/quartermaster/quartermaster.yaml --data-dir /var/lib/quartermaster",
    )
    .option("--old-machine-is-off", "the other machine can no longer write; needed without standby.lease")
    .option("--no-start", "do not start the units of the service")
    .with(addSevereConfirmOptions)
    .printsJson()
    .action(settingsAction(context, async () => (await import("./run.ts")).takeover));

export const addOptions = (command: CliCommand): CliCommand =>
  addFoldedSettingOptions(command, "Second machine settings:");
