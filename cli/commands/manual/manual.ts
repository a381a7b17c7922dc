// `quartermaster manual`: prints the manual page that manual-page.ts generates.
import { VERSION } from "../../../src/platform/version.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";

export function register(program: CliCommand, context: Context, wholeTree: () => CliCommand): void {
  program
    .command("manual")
    .description("Prints the manual page, for man(1).")
    .examples(
      "quartermaster manual > quartermaster.1",
      "quartermaster manual > /usr/local/share/man/man1/quartermaster.1",
      "quartermaster manual | man -l -",
    )
    .action(async () => {
      const { manualPage } = await import("./manual-page.ts");
      context.stdout.write(manualPage(wholeTree(), VERSION));
    });
}
