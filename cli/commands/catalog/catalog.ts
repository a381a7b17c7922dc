// `quartermaster catalog`: the tree of its verbs. What a verb does is in cli/commands/catalog/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

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

const ALLOW_DANGLING = "remove packages also where the policy in force names them";

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists every package in the catalog's order.")
    .examples(
      "quartermaster catalog list",
      "quartermaster catalog list --json --data-dir /var/lib/quartermaster",
    )
    .printsTable()
    .action(domainAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one package with its adapters and settings, as the file that seeds it would.")
    .examples("quartermaster catalog show review-guide", "quartermaster catalog show review-guide --json")
    .argument("<id>", "id of the package")
    .printsJson()
    .action(domainAction(context, async () => (await import("./read.ts")).show)),
  noun
    .command("export")
    .description(
      "Writes the catalog as a file that `catalog seed` accepts, or with its archives as a signed bundle.",
    )
    .examples(
      "quartermaster catalog export catalog.yaml",
      "quartermaster catalog export - | less",
      "quartermaster catalog export --bundle spring.qmc",
    )
    .argument("[file]", "file to write or replace; - is standard output")
    .option("--bundle <file>", "write the catalog, its archives and a signature to this one file")
    .option("--signing-key-file <path>", "Ed25519 private key to sign with, in place of this installation's")
    .option("--leave-out-remote", "leave out packages whose archives are not stored here")
    .printsJson()
    .action(domainAction(context, async () => (await import("./read.ts")).exportTo)),
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
      .option("--prune", "remove the packages that the file does not have")
      .option("--allow-dangling", ALLOW_DANGLING),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./seed.ts")).seed)),
  addConfirmOptions(
    noun
      .command("import")
      .description("Makes the catalog what a signed bundle says, all or nothing, and keeps its archives.")
      .examples(
        "quartermaster catalog import spring.qmc --trust bundle.pub --dry-run",
        "quartermaster catalog import spring.qmc --trust bundle.pub --yes",
      )
      .argument("<file>", "bundle that `catalog export --bundle` has written")
      .option("--trust <file>", "public keys (PEM) of those whose bundles you trust")
      .option("--keep", "keep the packages that the bundle does not have")
      .option("--allow-dangling", ALLOW_DANGLING),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./bundle.ts")).importBundle)),
  noun
    .command("bundle-key")
    .description("Prints the public key of this installation's bundles, and makes the pair the first time.")
    .examples("quartermaster catalog bundle-key > bundle.pub", "quartermaster catalog bundle-key --json")
    .printsJson()
    .action(domainAction(context, async () => (await import("./bundle.ts")).bundleKey)),
  addConfirmOptions(
    noun
      .command("remove")
      .description("Takes one package off the list; its archive stays, for policies that name it.")
      .examples(
        "quartermaster catalog remove review-guide --dry-run",
        "quartermaster catalog remove review-guide --yes",
      )
      .argument("<id>", "id of the package")
      .option("--allow-dangling", ALLOW_DANGLING),
  )
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).remove)),
];

const verifying = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("verify")
    .description("Reads every stored archive again and compares it with its digest.")
    .examples("quartermaster catalog verify", "quartermaster catalog verify --json")
    .printsTable()
    .action(domainAction(context, async () => (await import("./verify.ts")).verify));
