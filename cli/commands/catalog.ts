// `quartermaster catalog`: the tree of its verbs. What a verb does is in cli/catalog/, loaded when it is used.
import type { CliCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { inDomain } from "../in-domain.ts";
import { addConfirmOptions } from "../prompt.ts";
import { addDirectoryOptions } from "../settings.ts";

/** Adds the noun to the tree (operator-experience.md section 1.2). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("catalog")
    .description("Shows and changes the catalog of packages that administrators choose from.")
    .examples("quartermaster catalog list", "quartermaster catalog seed catalog.yaml --dry-run");

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [...readingVerbs(noun, context), ...changingVerbs(noun, context), verifying(noun, context)];
  for (const verb of verbs) addDirectoryOptions(verb);
}

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists every package in the catalog's order.")
    .examples(
      "quartermaster catalog list",
      "quartermaster catalog list --json --data-dir /var/lib/quartermaster",
    )
    .printsTable()
    .action(inDomain(context, async () => (await import("../catalog/read.ts")).list)),
  noun
    .command("show")
    .description("Shows one package with its adapters and settings, as the file that seeds it would.")
    .examples("quartermaster catalog show review-guide", "quartermaster catalog show review-guide --json")
    .argument("<id>", "id of the package")
    .printsJson()
    .action(inDomain(context, async () => (await import("../catalog/read.ts")).show)),
  noun
    .command("export")
    .description("Writes the catalog as a file that `catalog seed` accepts.")
    .examples("quartermaster catalog export catalog.yaml", "quartermaster catalog export - | less")
    .argument("<file>", "file to write or replace; - is standard output")
    .printsJson()
    .action(inDomain(context, async () => (await import("../catalog/read.ts")).exportTo)),
];

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  addConfirmOptions(
    noun
      .command("seed")
      .description(
        "Makes the catalog what a file says, all or nothing, and keeps the archives it names beside it.",
      )
      .examples(
        "quartermaster catalog seed catalog.yaml --dry-run",
        "quartermaster catalog seed catalog.yaml",
        "quartermaster catalog seed catalog.yaml --prune --yes",
      )
      .argument("<file>", "list of packages, or a file with a section package_catalog, in YAML or JSON")
      .option("--prune", "remove the packages that the file does not have"),
  )
    .printsJson()
    .action(inDomain(context, async () => (await import("../catalog/seed.ts")).seed)),
  addConfirmOptions(
    noun
      .command("remove")
      .description("Takes one package off the list; its archive stays, for policies that name it.")
      .examples(
        "quartermaster catalog remove review-guide --dry-run",
        "quartermaster catalog remove review-guide --yes",
      )
      .argument("<id>", "id of the package"),
  )
    .printsJson()
    .action(inDomain(context, async () => (await import("../catalog/remove.ts")).remove)),
];

const verifying = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("verify")
    .description("Reads every stored archive again and compares it with its digest.")
    .examples("quartermaster catalog verify", "quartermaster catalog verify --json")
    .printsTable()
    .action(inDomain(context, async () => (await import("../catalog/verify.ts")).verify));
