// `quartermaster doctor`: every check with its remedy, whether the service runs or not (operator-experience.md OBS-5, DAT-9).
// The checks are in src/app/doctor/.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { addOfflineOption } from "../../data-directory/service-down.ts";
import { addSettingOptions } from "../../input/setting-options.ts";

/** Adds the command to the tree. */
export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("doctor")
    .description("Examines the installation, and says what is wrong and what to do; changes nothing.")
    .examples(
      "quartermaster doctor --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster doctor --deep",
      "quartermaster doctor --json",
    )
    .option("--deep", "also read every page, every artifact and the whole audit log")
    .printsJson()
    .action(async (_options: unknown, self: CliCommand) => {
      const { doctor } = await import("./report.ts");
      await doctor(context, self);
    });

/** Adds its options. */
export const addOptions = (command: CliCommand): CliCommand => addOfflineOption(addSettingOptions(command));
