// `quartermaster doctor`: runs every check and prints remedies, even while the service is down (requirements OBS-5,
// DAT-9). The checks are in src/app/doctor/.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { addOfflineOption } from "../../data-directory/service-down.ts";
import { addFoldedSettingOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("doctor")
    .description("Checks the installation, and explains how to fix each problem; changes nothing.")
    .examples(
      "quartermaster doctor --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster doctor --deep",
      "quartermaster doctor --json",
    )
    .option("--deep", "also read every database page, every artifact and the whole audit log")
    .printsJson()
    .action(async (_options: unknown, self: CliCommand) => {
      const { doctor } = await import("./report.ts");
      await doctor(context, self);
    });

export const addOptions = (command: CliCommand): CliCommand =>
  addOfflineOption(addFoldedSettingOptions(command));
