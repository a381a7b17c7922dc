// `quartermaster config`: shows and checks the settings without starting the service. src/platform/config/config.ts resolves
// settings; src/app/installation/destinations.ts lists the outgoing connections.
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

export const register = (program: CliCommand): CliCommand =>
  program
    .command("config")
    .description("Shows and checks the settings.")
    .examples("quartermaster config show", "quartermaster config check --config quartermaster.yaml");

export function addVerbs(noun: CliCommand, context: Context): void {
  const showing = noun
    .command("show")
    .description("Shows the value and origin of every setting; secrets only as set or unset.")
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
    .description("Runs the checks that the service makes before it starts, and reports all problems at once.")
    .examples(
      "quartermaster config check --config /etc/quartermaster/quartermaster.yaml",
      "quartermaster config check --json",
    )
    .printsJson()
    .action((_options: unknown, command: CliCommand) => check(context, command));
  const explaining = noun
    .command("explain")
    .description("Explains one setting: its value and origin, its spellings, and when changes take effect.")
    .examples(
      "quartermaster config explain server.listen",
      "quartermaster config explain QUARTERMASTER_SCIM_TOKEN --json",
    )
    .argument("<setting>", "name in the file or in the environment, or the flag after --")
    .printsJson()
    .action((setting: string, _options: unknown, command: CliCommand) => explain(context, command, setting));
  for (const command of [showing, checking, explaining]) addSettingOptions(command);
}

async function show(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const { describe } = await import("../../../src/platform/config/config.ts");
  const json = ({ key, value, origin }: Row) => ({ key, value, origin });
  const listing = { columns: SETTING_COLUMNS, json, empty: "no settings" };
  const { ConfiguredConnections } = await import(
    "../../../src/app/installation/connections/configured-connections.ts"
  );
  const rows = [...describe(config), ...new ConfiguredConnections(config).rows()];
  outputFor(context, command).list(rows, listing, { file: config.file ?? null });
}

async function showOutgoing(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const { allDestinationsOf } = await import("../../../src/app/installation/destinations.ts");
  outputFor(context, command).list(allDestinationsOf(config), {
    columns: DESTINATION_COLUMNS,
    json: ({ name, origin, why }) => ({ name, origin, why }),
    empty: "no destinations: the service makes no outgoing connections",
  });
}

async function check(context: Context, command: CliCommand): Promise<void> {
  const config = await loadSettings(context, command);
  const { assertStartable } = await import("../../../src/app/service/start-checks.ts");
  const { findMissingScimToken } = await import(
    "../../../src/app/service/configuration/provisioning-start.ts"
  );
  const { findContentProblems } = await import("../../../src/app/service/content-checks.ts");
  const content = await findContentProblems(config);
  await withFileContext(config.file, () =>
    assertStartable(config, context.clock, [...findMissingScimToken(config), ...content]),
  );
  const { ConfiguredConnections } = await import(
    "../../../src/app/installation/connections/configured-connections.ts"
  );
  const { replicaFinding } = await import("../../../src/app/standby/check.ts");
  const output = outputFor(context, command);
  const replica = await replicaFinding(config, context.clock);
  const found = new ConfiguredConnections(config).warnings();
  if (replica && replica.result !== "ok") found.push(`${replica.detail}; ${replica.remedy}`);
  for (const warning of found) output.warning(warning);
  const warnings = [...config.warnings, ...found];
  const document = { valid: true, file: config.file ?? null, warnings, replica: replica ?? null };
  output.result(document, checkedText(config));
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
