// `quartermaster probe`: checks the connection to a service from the machine where the command runs.
// The checks are in src/app/probe/.
import { Option } from "commander";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { addSecretOptions } from "../../input/secret-input.ts";

export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("probe")
    .argument("<url>", "origin that workstations use")
    .description(
      "Checks from this machine whether a workstation can use a service, and explains how to fix each problem. Starts one device login and lets it expire.",
    )
    .examples(
      "quartermaster probe https://control.example.org",
      "quartermaster probe https://control.example.org --ca company-ca.pem --token-file token",
      "quartermaster probe http://127.0.0.1:8080 --only-ready",
    )
    .addOption(new Option("--ca <file>", "also trust the certificates in this PEM file"))
    .option("--only-ready", "only check that the service is ready, for the health check of a container")
    .with((verb) => addSecretOptions(verb, "token"))
    .printsJson()
    .action(async (url: string, _options: unknown, self: CliCommand) => {
      const { runProbe } = await import("./report.ts");
      await runProbe(context, self, url);
    });
