// Defines `quartermaster harnesses` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addOptionsOf } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("harnesses")
    .description("Shows, checks and signs facts about coding agents: generations and certified versions.")
    .examples("quartermaster harnesses list", "quartermaster harnesses check agents.yaml --trust home.pub");

export function addVerbs(noun: CliCommand, context: Context): void {
  const listing = noun
    .command("list")
    .description("Lists the generations with their certified ceilings, and the source of each ceiling.")
    .examples(
      "quartermaster harnesses list",
      "quartermaster harnesses list --json --config /etc/quartermaster/quartermaster.yaml",
    )
    .printsTable()
    .action(settingsAction(context, async () => (await import("./verbs.ts")).list));
  addOptionsOf(listing, ["data_dir", "harnesses.file", "harnesses.trust"]);
  const checking = noun
    .command("check")
    .description("Checks a harness file, and its signature if --trust is given.")
    .examples(
      "quartermaster harnesses check agents.yaml",
      "quartermaster harnesses check agents.yaml --trust home.pub",
    )
    .argument("<file>", "harness file; its signature is FILE.sig")
    .option("--trust <file>", "public keys (PEM) that may sign harness files")
    .printsJson()
    .action(settingsAction(context, async () => (await import("./verbs.ts")).check));
  const signing = noun
    .command("sign")
    .description("Checks a harness file and writes its signature to FILE.sig.")
    .examples(
      "quartermaster harnesses sign agents.yaml",
      "quartermaster harnesses sign agents.yaml --signing-key-file key.pem",
    )
    .argument("<file>", "harness file")
    .option(
      "--signing-key-file <path>",
      "Ed25519 private key to sign with, instead of this installation's key",
    )
    .printsJson()
    .action(settingsAction(context, async () => (await import("./verbs.ts")).sign));
  for (const verb of [checking, signing]) addOptionsOf(verb, ["data_dir"]);
}
