// `quartermaster config`: shows and checks the settings without starting anything. Settings are resolved in
// src/platform/config/config.ts; where the service may connect to is listed in destinations.ts.
import type { Config } from "../../../src/platform/config/config.ts";
import type { Destination } from "../../../src/platform/outbound/outbound.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { withFileContext } from "../../exit.ts";
import { addSettingOptions, loadSettings } from "../../input/setting-options.ts";
import { outputFor } from "../../output/output.ts";
import type { Column } from "../../output/table.ts";

interface Row {
  readonly key: string;
  readonly value: string;
  readonly origin: string;
}

const SETTING_COLUMNS: readonly Column<Row>[] = [
  { header: "SETTING", value: ({ key }) => key },
  { header: "VALUE", value: ({ value }) => value },
  { header: "ORIGIN", value: ({ origin }) => origin },
];

const DESTINATION_COLUMNS: readonly Column<Destination>[] = [
  { header: "NAME", value: ({ name }) => name },
  { header: "ORIGIN", value: ({ origin }) => origin },
  { header: "WHY", value: ({ why }) => why },
];

/** Adds the noun to the tree (operator-experience.md CLI-11, AIR-2). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("config")
    .description("Shows and checks the settings.")
    .examples("quartermaster config show", "quartermaster config check --config quartermaster.yaml");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const showing = noun
    .command("show")
    .description("Shows every setting in force and where it comes from; secrets only as set or unset.")
    .examples(
      "quartermaster config show",
      "quartermaster config show --config quartermaster.yaml --json",
      "quartermaster config show --outgoing",
    )
    .option("--outgoing", "list every destination the service may connect to, and why")
    .printsTable()
    .action((options: { outgoing?: true }, command: CliCommand) =>
      options.outgoing ? showOutgoing(context, command) : show(context, command),
    );
  const checking = noun
    .command("check")
    .description(
      "Checks the settings and what else the service checks before it starts, and reports every problem at once.",
    )
    .examples(
      "quartermaster config check --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster config check --json",
    )
    .printsJson()
    .action((_options: unknown, command: CliCommand) => check(context, command));
  const explaining = noun
    .command("explain")
    .description("Shows what one setting is, its value and origin, every spelling, and when it takes effect.")
    .examples(
      "quartermaster config explain server.listen",
      "quartermaster config explain QUARTERMASTER_SCIM_TOKEN --json",
    )
    .argument("<setting>", "name in the file, in the environment or, after --, as a flag")
    .printsJson()
    .action((setting: string, _options: unknown, command: CliCommand) => explain(context, command, setting));
  for (const command of [showing, checking, explaining]) addSettingOptions(command);
}

async function show(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const { describe } = await import("../../../src/platform/config/config.ts");
  const json = ({ key, value, origin }: Row) => ({ key, value, origin });
  const listing = { columns: SETTING_COLUMNS, json, empty: "no settings" };
  outputFor(context, command).list(describe(config), listing, { file: config.file ?? null });
}

async function showOutgoing(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const { destinationsOf } = await import("../../../src/app/installation/destinations.ts");
  outputFor(context, command).list(destinationsOf(config), {
    columns: DESTINATION_COLUMNS,
    json: ({ name, origin, why }) => ({ name, origin, why }),
    empty: "no destinations: nothing leaves this machine",
  });
}

async function check(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const { assertStartable } = await import("../../../src/app/service/start-checks.ts");
  await withFileContext(config.file, () => assertStartable(config, context.clock));
  const document = { valid: true, file: config.file ?? null };
  outputFor(context, command).result(document, checkedText(config));
}

async function explain(context: Context, command: CliCommand, setting: string): Promise<void> {
  const config = await loadSettings(context, command);
  const { explain: explainIn } = await import("./explain.ts");
  explainIn(config, setting, outputFor(context, command));
}

const checkedText = ({ file }: Config): string =>
  file === undefined
    ? "The configuration is valid; no file is in use."
    : `The configuration is valid: ${file}`;
