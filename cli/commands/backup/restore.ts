// `backup restore`: shows the data that it will replace, asks for the name of the directory, and prints how to undo the
// restore.

import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { readKeyFile } from "../../../src/app/backup/backup-keys.ts";
import {
  inspectBackup,
  type Restorable,
  type Restored,
  restoreBackup,
} from "../../../src/app/backup/restore.ts";
import { type EndedAccess, endedSummary } from "../../../src/domain/access/service.ts";
import { DATABASE_NAME } from "../../../src/domain/backup/model.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { KeyFileContent } from "../../../src/platform/crypto/key-file.ts";
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
import { givenFile } from "./given-file.ts";
import { watchTask } from "./progress.ts";

/** @throws DomainError `data_dir.in_use` while the service runs, `backup.*`, `schema.newer`, `keys.*`, `confirmation.*` */
export async function restore(call: SettingsCall): Promise<void> {
  const { context, config, has } = call;
  const label = operatorName(context); // before opening, which may switch to the owner of the directory
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
      directory,
      config,
      ids: context.ids,
      clock: context.clock,
      operator: { kind: "operator", id: null, label, requestId: context.runId },
      revokeLogins: has("revokeLogins"),
      signal: watch.signal,
      onProgress: watch.onProgress,
      perform: watch.perform,
    });
    watch[Symbol.dispose]();
    report(call, directory, { ...read, restored });
  } finally {
    lock.release();
  }
}

/** For a dry run, and for a missing directory, which must not be created before the operator agrees. */
async function confirmEarly(call: SettingsCall, path: string): Promise<Read | "declined"> {
  const directory = existsSync(path) ? openDataDirectory(path) : placesIn(path);
  const read = await readPlan(call, directory);
  return (await confirm(call, directory, read)) ? read : "declined";
}

interface Read {
  backup: Restorable;
  keys: KeyFileContent | undefined;
}

async function readPlan(call: SettingsCall, directory: DataDirectory): Promise<Read> {
  const { context, command, config, args, text } = call;
  const file = text("keys");
  const keys =
    file === undefined
      ? undefined
      : await readKeyFile({
          path: givenFile(call, file),
          passphrase: await readSecret(context, command, "passphrase"),
        });
  const place = { directory, config, ids: context.ids, keys };
  return { backup: inspectBackup(givenFile(call, args[0] ?? ""), place), keys };
}

/** Asks nothing for an existing directory without a database, because nothing can be lost there. */
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
  const put = existsSync(path)
    ? `restore into ${path}`
    : `create the data directory ${path}, and restore into it`;
  const what = manifest
    ? `the backup of ${manifest.created_at} (schema ${schema}, version ${manifest.version})`
    : `the copy ${basename(backup.path)} of a database (schema ${schema})`;
  return {
    action: replaces ? `replace the data in ${path} with ${what}` : `${put} ${what}`,
    details: [
      ...(has("dryRun") && isServerRunning(directory)
        ? ["A service is running on this directory. Stop it first."]
        : []),
      ...(replaces
        ? [
            `The replaced data is kept for ${config.get("backup.keep_replaced")} days in a folder replaced-…, and can be restored from there.`,
          ]
        : []),
      ...(has("revokeLogins") ? ["Every login ends: people and workstations sign in again."] : []),
      ...upgradeText(backup, directory),
      ...backup.missingKeys.map(missingText),
    ],
  };
}

/** Warns that the older version cannot open the database after the restore. */
function upgradeText({ path, schema, version }: Restorable, directory: DataDirectory): string[] {
  if (schema === programSchema()) return [];
  const command = restoreCommand(path, directory.path);
  return [
    `Its schema ${schema} will be upgraded to ${programSchema()}, which version ${version} cannot open. To go back to version ${version}, install its executable and run: ${command}`,
  ];
}

const missingText = (id: string): string =>
  `The sealing key ${id} is missing: secrets sealed with it cannot be read until its file is in keys/ (--keys restores it).`;

/** A restore neither changes nor contacts the object store. */
const sessionNotes = ({ sessions, elsewhere }: Restored["absent"]): string[] => [
  ...(sessions > 0
    ? [
        `${countText(sessions, "captured session")} without bytes: a download answers 410, and the next upload of a session restores it`,
      ]
    : []),
  ...(elsewhere > 0
    ? [
        `${countText(elsewhere, "version")} of captured sessions in the object store: \`quartermaster sessions verify\` finds those that are missing there`,
      ]
    : []),
];

function report(
  { config, output }: SettingsCall,
  directory: DataDirectory,
  { backup, restored }: Read & { restored: Restored },
): void {
  const { aside, schema, revoked, absent } = restored;
  const keepDays = config.get("backup.keep_replaced");
  const undo = aside === undefined ? undefined : restoreCommand(join(aside, DATABASE_NAME), directory.path);
  const document = {
    restored: backup.path,
    created_at: backup.manifest?.created_at ?? null,
    schema,
    upgraded_from: backup.schema === schema ? null : backup.schema,
    replaced: aside ?? null,
    undo: undo ?? null,
    revoked: revoked ? endedSummary(revoked) : null,
    captured_sessions: { without_bytes: absent.sessions, in_object_store: absent.elsewhere },
    missing_sealing_key_ids: backup.missingKeys,
  };
  const lines = [
    `restored ${backup.path} into ${directory.path} (schema ${schema})`,
    ...(revoked ? [`ended ${revokedText(revoked)}`] : []),
    ...(undo === undefined
      ? []
      : [
          `the replaced data is kept in ${aside} for ${keepDays} days (backup.keep_replaced); to undo the restore:`,
          `  ${undo}`,
        ]),
  ];
  output.result(document, lines.join("\n"));
  for (const text of sessionNotes(absent)) output.note(text);
  for (const text of upgradeText(backup, directory)) output.warning(text);
  for (const id of backup.missingKeys) output.warning(missingText(id));
}

const revokedText = ({ loginSessions, grants, deviceLogins, passwordLinks }: EndedAccess): string =>
  [
    countText(loginSessions, "login session"),
    countText(grants, "grant"),
    countText(deviceLogins, "device login"),
    countText(passwordLinks, "password link"),
  ].join(", ");
