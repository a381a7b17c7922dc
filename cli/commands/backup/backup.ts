// Defines `quartermaster backup` and its verbs. The code of a verb is loaded when it runs.
import type { CliCommand } from "../../command.ts";
import type { Context } from "../../context.ts";
import { settingsAction } from "../../data-directory/in-domain.ts";
import { addSevereConfirmOptions } from "../../input/prompt.ts";
import { addSecretOptions } from "../../input/secret-input.ts";
import { addOptionsOf } from "../../input/setting-options.ts";

export const register = (program: CliCommand): CliCommand =>
  program
    .command("backup")
    .description("Creates, lists, verifies and restores backups of the data directory.")
    .examples(
      "quartermaster backup create",
      "quartermaster backup list",
      "quartermaster backup restore backup-20270101T000000Z.qmb --dry-run",
    );

const SETTINGS = [
  "data_dir",
  "backup.directory",
  "backup.sessions",
  "backup.keep_replaced",
  "keys.sealing_key",
] as const;

export function addVerbs(noun: CliCommand, context: Context): void {
  const verbs = [creating, listing, verifying, restoring].map((verb) => verb(noun, context));
  for (const verb of verbs) addOptionsOf(verb, SETTINGS);
}

const creating = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("create")
    .description("Creates a backup of the database and the artifacts; the service may be running.")
    .examples(
      "quartermaster backup create",
      "quartermaster backup create /mnt/usb/monday.qmb --json",
      "quartermaster backup create --with-keys --passphrase-file passphrase.txt",
    )
    .argument(
      "[file]",
      "file to write, or a folder for a file named after the time (default: the backup folder)",
    )
    .option("--with-keys", "write the keys to a second file (.qmk), encrypted with a passphrase")
    .with((verb) => addSecretOptions(verb, "passphrase"))
    .printsJson()
    .action(settingsAction(context, async () => (await import("./create.ts")).create));

const listing = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("list")
    .description(
      "Lists the backups in the backup folder, newest first, with copies made by upgrades and data replaced by restores.",
    )
    .examples("quartermaster backup list", "quartermaster backup list --wide")
    .printsTable()
    .action(settingsAction(context, async () => (await import("./list.ts")).list));

const verifying = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("verify")
    .description("Reads a whole backup and checks every digest, the integrity of the database, and its rows.")
    .examples(
      "quartermaster backup verify backup-20270101T000000Z.qmb",
      "quartermaster backup verify /mnt/usb/backup-20270101T000000Z.qmb --json",
    )
    .argument("<file>", "a backup, or a copy made by an upgrade")
    .printsJson()
    .action(settingsAction(context, async () => (await import("./verify.ts")).verify));

const restoring = (noun: CliCommand, context: Context): CliCommand =>
  noun
    .command("restore")
    .description("Restores a backup while no service runs, and keeps the replaced data.")
    .examples(
      "quartermaster backup restore backup-20270101T000000Z.qmb --dry-run",
      "quartermaster backup restore backup-20270101T000000Z.qmb --confirm quartermaster",
      "quartermaster backup restore backup-20270101T000000Z.qmb --keys backup-20270101T000000Z.qmk --revoke-logins",
    )
    .argument("<file>", "a backup, or a copy made by an upgrade")
    .option("--keys <file>", "key file (.qmk) of the backup, to restore its keys first")
    .option("--revoke-logins", "end every login, for example if the backup was exposed to others")
    .with(addSevereConfirmOptions)
    .with((verb) => addSecretOptions(verb, "passphrase"))
    .printsJson()
    .action(settingsAction(context, async () => (await import("./restore.ts")).restore));
