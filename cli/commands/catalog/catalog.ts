// Defines `quartermaster catalog` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("catalog")
    .description("Shows and changes the catalog of packages available to administrators.")
    .examples("quartermaster catalog list", "quartermaster catalog seed catalog.yaml --dry-run");

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [...readingVerbs(noun, context), ...changingVerbs(noun, context), verifying(noun, context)];
  for (const verb of verbs) addDirectoryOptions(verb);
}

const ALLOW_DANGLING = "also remove packages that the current policy uses";

const readingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists all packages in catalog order.")
    .examples(
      "quartermaster catalog list",
      "quartermaster catalog list --json --data-dir /var/lib/quartermaster",
    )
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one package with its adapters and settings, in the format of the catalog file.")
    .examples("quartermaster catalog show review-guide", "quartermaster catalog show review-guide --json")
    .argument("<id>", "id of the package")
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
  noun
    .command("export")
    .description("Writes the catalog to a file for `catalog seed`, or with its archives to a signed bundle.")
    .examples(
      "quartermaster catalog export catalog.yaml",
      "quartermaster catalog export - | less",
      "quartermaster catalog export --bundle spring.qmc",
    )
    .argument("[file]", "file to write or replace; - for standard output")
    .option("--bundle <file>", "write the catalog, its archives and a signature to this one file")
    .option(
      "--signing-key-file <path>",
      "Ed25519 private key to sign with, instead of this installation's key",
    )
    .option("--leave-out-remote", "leave out packages whose archives are not stored here")
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).exportTo)),
];

const changingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("seed")
    .description("Adds and updates the packages in a file, all or nothing, and stores their local archives.")
    .examples(
      "quartermaster catalog seed catalog.yaml --dry-run",
      "quartermaster catalog seed catalog.yaml",
      "quartermaster catalog seed catalog.yaml --prune --yes",
    )
    .argument("<file>", "list of packages, or a file with a section package_catalog, in YAML or JSON")
    .option("--prune", "remove packages that are not in the file")
    .option("--allow-dangling", ALLOW_DANGLING)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./seed.ts")).seed)),
  noun
    .command("import")
    .description("Replaces the catalog with a signed bundle, all or nothing, and stores its archives.")
    .examples(
      "quartermaster catalog import spring.qmc --trust bundle.pub --dry-run",
      "quartermaster catalog import spring.qmc --trust bundle.pub --yes",
    )
    .argument("<file>", "bundle written by `catalog export --bundle`")
    .option("--trust <file>", "public keys (PEM) that may sign bundles")
    .option("--keep", "keep packages that are not in the bundle")
    .option("--allow-dangling", ALLOW_DANGLING)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./bundle.ts")).importBundle)),
  noun
    .command("upload")
    .description("Checks and stores one archive, and prints the package fields that refer to the archive.")
    .examples(
      "quartermaster catalog upload guide-1.0.0.tar.gz",
      "quartermaster catalog upload a.tar.gz --json",
    )
    .argument("<archive>", "a .tar.gz file")
    .printsJson()
    .action(domainAction(context, async () => (await import("./upload.ts")).upload)),
  noun
    .command("bundle-key")
    .description("Prints the public key of this installation's bundles; the first call creates the key pair.")
    .examples("quartermaster catalog bundle-key > bundle.pub", "quartermaster catalog bundle-key --json")
    .printsJson()
    .action(domainAction(context, async () => (await import("./bundle.ts")).bundleKey)),
  noun
    .command("remove")
    .description("Removes one package from the catalog; its archive stays for policies that use it.")
    .examples(
      "quartermaster catalog remove review-guide --dry-run",
      "quartermaster catalog remove review-guide --yes",
    )
    .argument("<id>", "id of the package")
    .option("--allow-dangling", ALLOW_DANGLING)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).remove)),
];

const verifying = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("verify")
    .description("Checks the digest of every stored archive.")
    .examples("quartermaster catalog verify", "quartermaster catalog verify --json")
    .printsTable()
    .action(readingAction(context, async () => (await import("./verify.ts")).verify));
