// `backup restore`: says what it will replace, has the name typed, and tells the way back.
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { readKeyFile } from "../../../src/app/backup/backup-keys.ts";
import {
  inspectBackup,
  type Restorable,
  type Restored,
  restoreBackup,
} from "../../../src/app/backup/restore.ts";
import { DATABASE_NAME } from "../../../src/domain/backup/model.ts";
import type { KeptKeys } from "../../../src/platform/crypto/key-file.ts";
import {
  type DataDirectory,
  isServerRunning,
  lockForServer,
  openDataDirectory,
  placesIn,
} from "../../../src/platform/data-directory/data-directory.ts";
import { fileExists } from "../../../src/platform/data-directory/owner.ts";
import { finishSwap } from "../../../src/platform/database/maintenance/data-swap.ts";
import { programSchema, restoreCommand } from "../../../src/platform/database/schema/schema.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { operatorName } from "../../data-directory/with-domain.ts";
import { isNameConfirmed, type Plan } from "../../input/prompt.ts";
import { readSecret } from "../../input/secret-input.ts";
import { watchTask } from "./progress.ts";
import { amount } from "./view.ts";

/** @throws DomainError `data_dir.in_use` while the service runs, `backup.*`, `schema.newer`, `keys.*`, `confirmation.*` */
export async function restore(call: SettingsCall): Promise<void> {
  const { context, config, has } = call;
  const label = operatorName(context); // asked first: opening may change the user to the directory's owner
  const path = resolve(config.get("data_dir"));
  const plan = has("dryRun") || !fileExists(path) ? await confirmEarly(call, path) : undefined;
  if (plan === "declined") return;
  const directory = openDataDirectory(path);
  const lock = lockForServer(directory, context.clock);
  try {
    finishSwap(directory);
    const read = plan ?? (await readPlan(call, directory));
    if (!plan && !(await confirm(call, directory, read))) return;
    using watch = watchTask(context, "reading the backup");
    const restored = await restoreBackup({
      ...read,
      ...{ directory, config, ids: context.ids, clock: context.clock },
      operator: { kind: "operator", id: null, label, requestId: context.runId },
      revokeLogins: has("revokeLogins"),
      signal: watch.signal,
      onProgress: watch.onProgress,
    });
    watch[Symbol.dispose]();
    tell(call, directory, { ...read, restored });
  } finally {
    lock.release();
  }
}

/** For a dry run, and for a directory that is not there: it must not be made before that was agreed to. */
async function confirmEarly(call: SettingsCall, path: string): Promise<Read | "declined"> {
  const directory = existsSync(path) ? openDataDirectory(path) : placesIn(path);
  const read = await readPlan(call, directory);
  return (await confirm(call, directory, read)) ? read : "declined";
}

interface Read {
  backup: Restorable;
  keys: KeptKeys | undefined;
}

async function readPlan(call: SettingsCall, directory: DataDirectory): Promise<Read> {
  const { context, command, config, args, text } = call;
  const file = text("keys");
  const keys =
    file === undefined
      ? undefined
      : await readKeyFile({
          path: resolve(context.cwd, file),
          passphrase: await readSecret(context, command, "passphrase"),
        });
  const place = { directory, config, ids: context.ids, keys };
  return { backup: inspectBackup(resolve(context.cwd, args[0] ?? ""), place), keys };
}

/** Nothing is lost in a directory without a database, so nothing is asked there. */
async function confirm(call: SettingsCall, directory: DataDirectory, read: Read): Promise<boolean> {
  const { context, command, has } = call;
  const replaces = existsSync(directory.database);
  if (!replaces && existsSync(directory.path) && !has("dryRun")) return true;
  const name = basename(directory.path);
  return await isNameConfirmed(context, command, { name, ...planOf(call, directory, { ...read, replaces }) });
}

function planOf(
  { config, has }: SettingsCall,
  directory: DataDirectory,
  { backup, replaces }: Read & { replaces: boolean },
): Plan {
  const { path } = directory;
  const { manifest, schema } = backup;
  const put = existsSync(path) ? `put into ${path}` : `make the data directory ${path}, and put into it`;
  const what = manifest
    ? `the backup of ${manifest.created_at} (schema ${schema}, version ${manifest.version})`
    : `the copy ${basename(backup.path)} of a database (schema ${schema})`;
  return {
    action: replaces ? `replace the data in ${path} by ${what}` : `${put} ${what}`,
    details: [
      ...(has("dryRun") && isServerRunning(directory) ? ["A service runs on it now: stop that first."] : []),
      ...(replaces
        ? [
            `What was written since is no longer in force. It is kept for ${config.get("backup.keep_replaced")} days in a folder replaced-…, and can be put back.`,
          ]
        : []),
      ...(has("revokeLogins") ? ["Every login ends: people and workstations sign in again."] : []),
      ...upgradeText(backup, directory),
      ...backup.missingKeys.map(missingText),
    ],
  };
}

/** Whoever wants the older version back would find out only when that refuses the database. */
function upgradeText({ path, schema, version }: Restorable, directory: DataDirectory): string[] {
  if (schema === programSchema()) return [];
  const command = restoreCommand(path, directory.path);
  return [
    `Its schema ${schema} becomes ${programSchema()}, which version ${version} cannot open. To go back to version ${version}, put its executable in place, and run that: ${command}`,
  ];
}

const missingText = (id: string): string =>
  `The sealing key ${id} is not at hand: what lies under it cannot be read until its file is in keys/ (--keys puts it there).`;

function tell(
  { config, output }: SettingsCall,
  directory: DataDirectory,
  { backup, restored }: Read & { restored: Restored },
): void {
  const { aside, schema, revoked } = restored;
  const keepDays = config.get("backup.keep_replaced");
  const undo = aside === undefined ? undefined : restoreCommand(join(aside, DATABASE_NAME), directory.path);
  const document = {
    restored: backup.path,
    created_at: backup.manifest?.created_at ?? null,
    schema,
    upgraded_from: backup.schema === schema ? null : backup.schema,
    replaced: aside ?? null,
    undo: undo ?? null,
    revoked: revoked
      ? {
          login_sessions: revoked.loginSessions,
          grants: revoked.grants,
          device_logins: revoked.deviceLogins,
        }
      : null,
    missing_sealing_key_ids: backup.missingKeys,
  };
  const lines = [
    `restored ${backup.path} into ${directory.path} (schema ${schema})`,
    ...(revoked ? [`ended ${revokedText(revoked)}`] : []),
    ...(undo === undefined
      ? []
      : [
          `the data before is in ${aside} for ${keepDays} days (backup.keep_replaced); to go back to it:`,
          `  ${undo}`,
        ]),
  ];
  output.result(document, lines.join("\n"));
  for (const text of upgradeText(backup, directory)) output.warning(text);
  for (const id of backup.missingKeys) output.warning(missingText(id));
}

const revokedText = ({ loginSessions, grants, deviceLogins }: NonNullable<Restored["revoked"]>): string =>
  [
    amount(loginSessions, "login session"),
    amount(grants, "grant"),
    amount(deviceLogins, "device login"),
  ].join(", ");
