// `quartermaster setup`: creates an installation without starting the service, for packages and playbooks that prepare the first
// start. src/app/installation/setup.ts decides which steps are missing.

import type { SetupOptions } from "../../src/app/installation/setup.ts";
import type { BootstrapResult } from "../../src/domain/identity/service.ts";
import type { Config } from "../../src/platform/config/config.ts";
import { countText } from "../../src/platform/count-text.ts";
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { addOptionsOf, loadSettings } from "../input/setting-options.ts";
import { outputFor } from "../output/output.ts";

export const register = (program: CliCommand, context: Context): CliCommand =>
  program
    .command("setup")
    .description(
      "Creates the data directory, database, first administrator and signing key, without starting the service.",
    )
    .examples(
      "quartermaster setup --data-dir /var/lib/quartermaster",
      "quartermaster setup --bootstrap-admin-email ana@example.org --bootstrap-admin-password-file password.txt",
      "quartermaster setup --config /etc/quartermaster/quartermaster.yaml --dry-run",
    )
    .option("--dry-run", "show what would be created, and create nothing")
    .option("--new", "create a new, empty installation even if a database was lost")
    .printsJson()
    .action(({ dryRun }: { dryRun?: true }, self: CliCommand) =>
      dryRun ? printPlan(context, self) : setup(context, self),
    );

export const addOptions = (command: CliCommand): CliCommand =>
  addOptionsOf(command, [
    "data_dir",
    "backup.directory",
    "bootstrap.admin_email",
    "bootstrap.admin_password",
    "bootstrap.organization_name",
    "keys.sealing_key",
  ]);

async function printPlan(context: Context, command: CliCommand): Promise<void> {
  const steps = await stepsOf(optionsOf(context, command, await loadSettings(context, command)));
  const lines = steps.length === 0 ? [UNCHANGED] : ["Would:", ...steps.map((step) => `  ${step}`)];
  const text = [...lines, "No changes made."].join("\n");
  outputFor(context, command).result({ dry_run: true, steps }, text);
}

async function setup(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const output = outputFor(context, command);
  const plan = optionsOf(context, command, config);
  const steps = await stepsOf(plan);
  if (steps.length === 0) return output.result({ changed: false, steps }, UNCHANGED);
  const { setUp } = await import("../../src/app/installation/setup.ts");
  const showPassword = ({ admin, generatedPassword }: BootstrapResult): void => {
    if (!generatedPassword) return;
    const warning = `the password of ${admin.email} is shown only once: save it now`;
    const more = { changed: true, steps, administrator: admin };
    output.secret(generatedPassword, { name: "password", warning, more });
  };
  // Prints the password as soon as it exists: it is not stored, and the next step may fail.
  const options = { ...plan, onBootstrap: showPassword };
  const { admin, generatedPassword } = await setUp(options);
  const text = `Set up ${config.get("data_dir")}: ${countText(steps.length, "step")} done.`;
  if (generatedPassword) output.note(text);
  else output.result({ changed: true, steps, administrator: admin }, text);
}

const UNCHANGED = "unchanged: the installation is complete";

async function stepsOf(options: SetupOptions): Promise<readonly string[]> {
  const { planSetup } = await import("../../src/app/installation/setup.ts");
  return await planSetup(options);
}

const optionsOf = (
  { clock, ids, passwordCost }: Context,
  command: CliCommand,
  config: Config,
): SetupOptions => ({
  config,
  clock,
  ids,
  passwordCost,
  baseUrl: () => "",
  isNew: command.opts().new === true,
});
