// Defines `quartermaster branding` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions, addOptionsOf } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("branding")
    .description("Shows and replaces the logo and the icon that pages show.")
    .examples("quartermaster branding show", "quartermaster branding upload logo logo.svg --yes");

export function addVerbs(noun: CliCommand, context: Context): void {
  const show = noun
    .command("show")
    .description("Shows the addresses of the logo and the icon.")
    .examples("quartermaster branding show", "quartermaster branding show --json")
    .printsJson()
    .action(readingAction(context, async () => (await import("./verbs.ts")).show));
  const apply = noun
    .command("apply")
    .description("Replaces the addresses. Every browser loads the images from there, even before sign-in.")
    .examples(
      "quartermaster branding apply --logo-url https://example.org/logo.svg --dry-run",
      "quartermaster branding apply --icon-url '' --yes",
    )
    .option("--logo-url <url>", "https address of the logo; '' removes it")
    .option("--icon-url <url>", "https address of the icon; '' removes it")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).apply));
  for (const verb of [show, apply]) addDirectoryOptions(verb);
  const upload = noun
    .command("upload")
    .description("Stores an image in the data directory and makes it the logo or the icon.")
    .examples(
      "quartermaster branding upload logo logo.svg --dry-run",
      "quartermaster branding upload icon icon.png --server-public-url https://qm.example.org --yes",
    )
    .argument("<logo|icon>", "the image to replace")
    .argument("<file>", "PNG or SVG image of at most 256 KiB")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./verbs.ts")).upload));
  addOptionsOf(upload, ["data_dir", "server.public_url", "server.listen"]);
}
