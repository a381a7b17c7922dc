// Defines `quartermaster sessions` and its verbs. The code of a verb is loaded when it runs.
import { Option } from "commander";
import { ARTIFACT_STATUSES } from "../../../src/domain/sessions/model.ts";
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { domainAction, readingAction } from "../../data-directory/in-domain.ts";
import { addConfirmOptions } from "../../input/prompt.ts";
import { addDirectoryOptions } from "../../input/setting-options.ts";
import { addPageOptions } from "../../output/list-pages.ts";
import { STORE_KINDS } from "./store-kinds.ts";

const SESSION = ["<session>", "id, as `sessions list` shows it"] as const;
const EXAMPLE_ID = "0199c0de-0000-7000-8000-000000000001";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("sessions")
    .description("Shows, exports, keeps and removes the coding sessions that workstations captured.")
    .examples("quartermaster sessions list --user ana@example.org", "quartermaster sessions verify");

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [
    ...addReadingVerbs(noun, context),
    ...addHoldVerbs(noun, context),
    ...addEndingVerbs(noun, context),
  ];
  for (const verb of verbs) addDirectoryOptions(verb);
}

const addReadingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("list")
    .description("Lists captured sessions, most recently completed first.")
    .examples(
      "quartermaster sessions list --user ana@example.org --wide",
      "quartermaster sessions list --status failed --json",
      "quartermaster sessions list --q migration --updated-from 2026-01-01",
    )
    .option("--user <user>", "sessions of this owner: e-mail address or id")
    .option("--harness <name>", "sessions of this harness")
    .addOption(
      new Option("--status <status>", "sessions that have a version in this state").choices(
        ARTIFACT_STATUSES,
      ),
    )
    .option("--updated-from <time>", "completed on this day in UTC, or at this time, or later")
    .option("--updated-to <time>", "completed on this day in UTC or earlier, or before this time")
    .with(addPageOptions)
    .printsTable()
    .action(readingAction(context, async () => (await import("./read.ts")).list)),
  noun
    .command("show")
    .description("Shows one session with its versions and who it is shared with.")
    .examples(`quartermaster sessions show ${EXAMPLE_ID}`, `quartermaster sessions show ${EXAMPLE_ID} --json`)
    .argument(...SESSION)
    .printsJson()
    .action(readingAction(context, async () => (await import("./read.ts")).show)),
  noun
    .command("export")
    .description("Writes the current version of a session to a new file or to stdout, and checks its digest.")
    .examples(
      `quartermaster sessions export ${EXAMPLE_ID} session.tgz`,
      `quartermaster sessions export ${EXAMPLE_ID} - | tar -tz`,
    )
    .argument(...SESSION)
    .argument("<file>", "file to create, or - for stdout")
    .printsJson()
    .action(domainAction(context, async () => (await import("./export.ts")).exportSession)),
  noun
    .command("verify")
    .description("Reads every stored object again; records those that are missing or damaged as lost.")
    .examples("quartermaster sessions verify --dry-run", "quartermaster sessions verify --json")
    .option("--dry-run", "list them without recording anything")
    .printsTable()
    .action(domainAction(context, async () => (await import("./verify.ts")).verify)),
];

const addHoldVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("hold")
    .description("Keeps a session from retention and deletion until it is released.")
    .examples(`quartermaster sessions hold ${EXAMPLE_ID}`, `quartermaster sessions hold ${EXAMPLE_ID} --json`)
    .argument(...SESSION)
    .printsJson()
    .action(domainAction(context, async () => (await import("./keep.ts")).hold)),
  noun
    .command("release")
    .description("Ends the hold of a session, so that retention can remove it.")
    .examples(
      `quartermaster sessions release ${EXAMPLE_ID}`,
      `quartermaster sessions release ${EXAMPLE_ID} --json`,
    )
    .argument(...SESSION)
    .printsJson()
    .action(domainAction(context, async () => (await import("./keep.ts")).release)),
];

const addEndingVerbs = (noun: CliCommand, context: Context): CliCommand[] => [
  noun
    .command("remove")
    .description("Removes a session with all its versions and their bytes.")
    .examples(
      `quartermaster sessions remove ${EXAMPLE_ID} --dry-run`,
      `quartermaster sessions remove ${EXAMPLE_ID} --yes`,
    )
    .argument(...SESSION)
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).remove)),
  noun
    .command("revoke")
    .description("Ends all sharing of one session, or of all sessions of an owner.")
    .examples(
      `quartermaster sessions revoke ${EXAMPLE_ID}`,
      "quartermaster sessions revoke --owner ana@example.org --yes",
    )
    .argument("[session]", SESSION[1])
    .option("--owner <user>", "all sessions of this owner: e-mail address or id")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./remove.ts")).revoke)),
  noun
    .command("apply")
    .description("Applies the current retention settings to the deadlines of stored versions.")
    .examples("quartermaster sessions apply --dry-run", "quartermaster sessions apply --yes")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./keep.ts")).apply)),
  noun
    .command("migrate")
    .description("Moves stored objects to another store; the service may keep running.")
    .examples(
      "quartermaster sessions migrate --to s3 --dry-run",
      "quartermaster sessions migrate --to local --yes",
    )
    .addOption(
      new Option("--to <store>", "store to move the objects to; default: the store for new uploads").choices(
        STORE_KINDS,
      ),
    )
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./migrate.ts")).migrate)),
  noun
    .command("sweep")
    .description("Removes stored objects that belong to no session; a dry run must claim the bucket first.")
    .examples("quartermaster sessions sweep --dry-run", "quartermaster sessions sweep --yes")
    .with(addConfirmOptions)
    .printsJson()
    .action(domainAction(context, async () => (await import("./sweep.ts")).sweep)),
];
