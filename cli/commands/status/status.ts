// `quartermaster status`: one screen about the installation, even while the service is down (requirement OBS-5).
// read.ts collects the facts.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { addOfflineOption } from "../../data-directory/service-down.ts";
import { addOptionsOf } from "../../input/setting-options.ts";

export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("status")
    .description(
      "Shows version, service, policy, workstations, gateway keys, jobs, backup and external services on one screen.",
    )
    .examples(
      "quartermaster status --data-dir /var/lib/quartermaster",
      "quartermaster status --config /etc/quartermaster/quartermaster.yaml --json",
      "quartermaster status --offline-ok",
    )
    .printsJson()
    .action(async (_options: unknown, self: CliCommand) => {
      const { status } = await import("./report.ts");
      await status(context, self);
    });

export const addOptions = (command: CliCommand): CliCommand =>
  addOfflineOption(addOptionsOf(command, ["data_dir", "keys.sealing_key"]));
