// `quartermaster backup`: the tree of its verbs. What a verb does is in cli/commands/backup/, loaded when it is used.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addSevereConfirmOptions } from "../../input/prompt.ts";
import { addSecretOptions } from "../../input/secret-input.ts";
import { addOptionsOf } from "../../input/setting-options.ts";

/** Adds the noun to the tree (operator-experience.md section 5). */
export const register = (program: CliCommand): CliCommand =>
  program
    .command("backup")
    .description("Makes, lists, checks and restores backups of the data directory.")
    .examples(
      "quartermaster backup create",
      "quartermaster backup list",
      "quartermaster backup restore backup-20270101T000000Z.qmb --dry-run",
    );

/** Adds its verbs. */
export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [creating, listing, verifying, restoring].map((verb) => verb(noun, context));
  for (const verb of verbs)
    addOptionsOf(verb, ["data_dir", "backup.directory", "backup.keep_replaced", "keys.sealing_key"]);
}

const creating = (noun: CliCommand, context: Context): CliCommand =>
  addSecretOptions(
    noun
      .command("create")
      .description("Makes a backup of database and artifacts, also while the service runs.")
      .examples(
        "quartermaster backup create",
        "quartermaster backup create /mnt/usb/monday.qmb --json",
        "quartermaster backup create --with-keys --passphrase-file passphrase.txt",
      )
      .argument(
        "[file]",
        "file to write, or folder that gets one with the time in its name (default: the folder of backups)",
      )
      .option("--with-keys", "write the keys to a second file (.qmk), encrypted under a passphrase"),
    "passphrase",
  )
    .printsJson()
    .action(settingsAction(context, async () => (await import("./create.ts")).create));

const listing = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("list")
    .description(
      "Lists the backups in the folder of backups, newest first, copies that upgrades made, and data that restores replaced.",
    )
    .examples("quartermaster backup list", "quartermaster backup list --wide")
    .printsTable()
    .action(settingsAction(context, async () => (await import("./list.ts")).list));

const verifying = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("verify")
    .description("Reads a backup from end to end: every digest, the database's own check, its rows.")
    .examples(
      "quartermaster backup verify backup-20270101T000000Z.qmb",
      "quartermaster backup verify /mnt/usb/backup-20270101T000000Z.qmb --json",
    )
    .argument("<file>", "a backup, or a copy that an upgrade made")
    .printsJson()
    .action(settingsAction(context, async () => (await import("./verify.ts")).verify));

const restoring = (noun: CliCommand, context: Context): CliCommand =>
  addSecretOptions(
    addSevereConfirmOptions(
      noun
        .command("restore")
        .description("Puts a backup in force while no service runs, and keeps the data that it replaces.")
        .examples(
          "quartermaster backup restore backup-20270101T000000Z.qmb --dry-run",
          "quartermaster backup restore backup-20270101T000000Z.qmb --confirm quartermaster",
          "quartermaster backup restore backup-20270101T000000Z.qmb --keys backup-20270101T000000Z.qmk --revoke-logins",
        )
        .argument("<file>", "a backup, or a copy that an upgrade made")
        .option("--keys <file>", "file of keys (.qmk) that are put beside the database first")
        .option("--revoke-logins", "end every login, as when the backup was in other hands"),
    ),
    "passphrase",
  )
    .printsJson()
    .action(settingsAction(context, async () => (await import("./restore.ts")).restore));
