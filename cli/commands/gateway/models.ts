// Defines `quartermaster gateway models` and its verbs. The code of a verb is loaded when it runs.
import { Argument } from "commander";
import { HARNESS_KEYS } from "../../../src/domain/harnesses/harnesses.ts";
import { MODEL_STATES } from "../../../src/domain/inference/models/model.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { choiceOption } from "../../input/choices.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

const CONFIG = "--config /etc/quartermaster/quartermaster.yaml";

export function addModelVerbs(noun: CliCommand, context: Context): void {
  const group = noun
    .command("models")
    .description("Lists the models of the gateway, refreshes the list, and assigns models to agents.")
    .examples(
      `quartermaster gateway models list ${CONFIG}`,
      `quartermaster gateway models refresh ${CONFIG}`,
    );
  const verbs = [...readingVerbs(group, context), acknowledging(group, context), assigning(group, context)];
  for (const verb of verbs) addDirectoryOptions(verb);
}

const readingVerbs = (group: CliCommand, context: Context): CliCommand[] => [
  group
    .command("list")
    .description("Lists models by id, with their state and the agents that they are assigned to.")
    .examples(
      `quartermaster gateway models list ${CONFIG}`,
      "quartermaster gateway models list --state changed --json",
    )
    .addOption(choiceOption("--state <state>", "only models in this state", MODEL_STATES))
    .printsTable()
    .action(readingAction(context, async () => (await import("./model-reading.ts")).list)),
  group
    .command("refresh")
    .description("Fetches the list of models from the gateway now. Assignments do not change.")
    .examples(
      `quartermaster gateway models refresh ${CONFIG}`,
      `quartermaster gateway models refresh --json ${CONFIG}`,
    )
    .printsJson()
    .action(domainAction(context, async () => (await import("./model-reading.ts")).refresh)),
];

const acknowledging = (group: CliCommand, context: Context): CliCommand =>
  group
    .command("acknowledge")
    .description("Accepts a changed model, after showing what the gateway reports about it.")
    .examples(
      `quartermaster gateway models acknowledge gpt-5 --dry-run ${CONFIG}`,
      `quartermaster gateway models acknowledge gpt-5 --yes ${CONFIG}`,
    )
    .argument("<model>", "id of the model")
    .option("--fingerprint <sha256>", "only if the model still has this fingerprint")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./model-changes.ts")).acknowledge));

const assigning = (group: CliCommand, context: Context): CliCommand =>
  group
    .command("assign")
    .description(
      "Replaces the models of one agent, as a new policy revision. Workstations get the lists once every allowed agent has one.",
    )
    .examples(
      `quartermaster gateway models assign codex gpt-5 gpt-5-mini --default gpt-5 --dry-run ${CONFIG}`,
      `quartermaster gateway models assign codex --none --yes ${CONFIG}`,
    )
    .addArgument(new Argument("<harness>", "coding agent").choices(HARNESS_KEYS))
    .argument("[model...]", "ids of its models")
    .option("--none", "remove the assignment")
    .option("--default <model>", "model that the agent starts with (default: the current one)")
    .option("--no-default", "start the agent without a default model")
    .option("--base <revision>", "publish only if this revision (number or id) is still the current one")
    .option("--comment <text>", "reason, shown in the history")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./model-changes.ts")).assign));
