// `quartermaster harnesses`: the tree of its verbs. What a verb does is in cli/commands/harnesses/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addOptionsOf } from "../../input/setting-options.ts";

/** Adds the noun to the tree. */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("harnesses")
    .description("Shows, checks and signs the facts about coding agents: certified versions and generations.")
    .examples("quartermaster harnesses list", "quartermaster harnesses check agents.yaml --trust home.pub");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = noun
    .command("list")
    .description("Lists the generations with their certified ceilings, and where each ceiling comes from.")
    .examples(
      "quartermaster harnesses list",
      "quartermaster harnesses list --json --config /etc/quartermaster/quartermaster.yaml",
    )
    .printsTable()
    .action(settingsAction(context, async () => (await import("./verbs.ts")).list));
  addOptionsOf(listing, ["data_dir", "harnesses.file", "harnesses.trust"]);
  const checking = noun
    .command("check")
    .description("Checks a harness file, and its signature where trusted keys are given.")
    .examples(
      "quartermaster harnesses check agents.yaml",
      "quartermaster harnesses check agents.yaml --trust home.pub",
    )
    .argument("<file>", "harness file; its signature is FILE.sig")
    .option("--trust <file>", "public keys (PEM) of those whose signatures you trust")
    .printsJson()
    .action(settingsAction(context, async () => (await import("./verbs.ts")).check));
  const signing = noun
    .command("sign")
    .description("Checks a harness file and writes its signature beside it, as FILE.sig.")
    .examples(
      "quartermaster harnesses sign agents.yaml",
      "quartermaster harnesses sign agents.yaml --signing-key-file key.pem",
    )
    .argument("<file>", "harness file")
    .option("--signing-key-file <path>", "Ed25519 private key to sign with, in place of this installation's")
    .printsJson()
    .action(settingsAction(context, async () => (await import("./verbs.ts")).sign));
  for (const verb of [checking, signing]) addOptionsOf(verb, ["data_dir"]);
}
