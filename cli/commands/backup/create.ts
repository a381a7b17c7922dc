// `backup create`: writes the database, the artifacts and, with backup.sessions, captured sessions to one file, and with
// --with-keys the keys to a second file.
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import {
  type Backup,
  type BackupRequest,
  backupFolder,
  makeBackup,
  refuseExisting,
} from "../../../src/app/backup/backup.ts";
import {
  type KeyPlace,
  type NewKeyFile,
  sealingKeysAt,
  writeKeyFile,
} from "../../../src/app/backup/backup-keys.ts";
import { existingDirectory } from "../../../src/app/installation/existing-directory.ts";
import { keysPathOf } from "../../../src/domain/backup/model.ts";
import { assertPassphraseLength } from "../../../src/platform/crypto/key-file.ts";
import { programSchema, schemaIn } from "../../../src/platform/database/schema/schema.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Secret } from "../../../src/platform/secret.ts";
import type { Context } from "../../context.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { withDomain } from "../../data-directory/with-domain.ts";
import { SomeFailed } from "../../exit.ts";
import { readSecret } from "../../input/secret-input.ts";
import { watchTask } from "./progress.ts";
import { contentsText, manifestDocument } from "./view.ts";

/** @throws DomainError `backup.*`; SomeFailed if the backup is incomplete or cannot be restored */
export async function create(call: SettingsCall): Promise<void> {
  const { config, context, output } = call;
  const directory = existingDirectory({ config, clock: context.clock });
  const place = { directory, config, ids: context.ids };
  const passphrase = await passphraseOf(call);
  const aim = targetOf(call, place);
  if (passphrase && aim.target !== undefined) refuseExisting(keysPathOf(aim.target));
  const backup = await make(call, { place, aim });
  const path = keysPathOf(backup.path);
  const keysPath = passphrase && (await writeKeys(call.context, place, { path, passphrase }));
  output.result(documentOf(backup, keysPath), `${backup.path}: ${contentsText(backup.manifest)}`);
  printKeys(call, backup, keysPath);
  const failures = failuresOf(backup);
  if (failures.length > 0) throw new SomeFailed(failures.join("; "));
}

/** These problems do not stop the backup: a damaged file must not prevent all backups. */
function failuresOf({ manifest, differences }: Backup): string[] {
  const { left_out: leftOut } = manifest.artifacts;
  const sessions = manifest.sessions?.left_out ?? [];
  return [
    ...(leftOut.length > 0 ? [`damaged artifacts were left out: ${leftOut.join(", ")}`] : []),
    ...(sessions.length > 0
      ? [
          `damaged files of captured sessions were left out: ${sessions.join(", ")}; run \`quartermaster sessions verify\``,
        ]
      : []),
    ...(differences.length > 0
      ? [
          `restore will refuse this backup because its database has foreign objects: ${differences.join(", ")}`,
        ]
      : []),
  ];
}

type BackupTarget = Pick<BackupRequest, "folder" | "target">;

/** If the argument is a folder or ends with a slash, the file name is made from the time. */
function targetOf({ context, config, args: [file] }: SettingsCall, { directory }: KeyPlace): BackupTarget {
  const folder = backupFolder(config, directory);
  if (file === undefined) return { folder };
  const path = resolve(context.cwd, file);
  const isFolder = file.endsWith("/") || (existsSync(path) && statSync(path).isDirectory());
  return isFolder ? { folder: path } : { folder, target: path };
}

/** Backs up a database with another schema unchanged, without recording the backup in it. */
async function make(
  { context, config }: SettingsCall,
  { place, aim }: { place: KeyPlace; aim: BackupTarget },
): Promise<Backup> {
  const { directory } = place;
  using watch = watchTask(context, "making the backup");
  const request = {
    kind: "manual",
    directory,
    ...aim,
    withSessions: config.get("backup.sessions"),
    clock: context.clock,
    signal: watch.signal,
    onProgress: watch.onProgress,
    perform: watch.perform,
  } satisfies Omit<BackupRequest, "keyIdsIn">;
  if (schemaIn(directory.database) !== programSchema())
    return await makeBackup({ ...request, keyIdsIn: () => sealingKeysAt(place).map(({ id }) => id) });
  return await withDomain(context, config, async ({ domain: { backups, sealingKeys }, actor }) => {
    const backup = await makeBackup({ ...request, keyIdsIn: (copy) => sealingKeys.idsIn(copy) });
    const { manifest: _, differences: __, ...made } = backup;
    await backups.recordMade(actor, made);
    return backup;
  });
}

async function passphraseOf(call: SettingsCall): Promise<Secret | undefined> {
  const { context, command, text, has } = call;
  if (has("withKeys")) {
    const passphrase = await readSecret(context, command, "passphrase");
    assertPassphraseLength(passphrase);
    return passphrase;
  }
  if (text("passphraseFile") === undefined && !has("passphraseStdin")) return undefined;
  throw new DomainError("invalid", "usage.without_keys", "a passphrase requires --with-keys", {
    hint: "add --with-keys, or omit the passphrase; the backup itself is not encrypted",
  });
}

async function writeKeys(
  { passphraseCost: cost }: Context,
  place: KeyPlace,
  to: NewKeyFile,
): Promise<string> {
  await writeKeyFile(place, { ...to, cost });
  return to.path;
}

function printKeys({ output }: SettingsCall, { manifest }: Backup, keysPath: string | undefined): void {
  const ids = manifest.sealing_key_ids.join(", ");
  if (keysPath !== undefined)
    output.note(
      `the keys are in ${keysPath}: store it apart from the backup, and the passphrase apart from both`,
    );
  else if (ids !== "")
    output.note(
      `the backup does not contain the sealing key ${ids} that its secrets need: keep a separate copy of the key`,
    );
}

const documentOf = (
  { path, kind, sizeBytes, durationMs, manifest }: Backup,
  keysPath: string | undefined,
) => ({
  path,
  kind,
  size_bytes: sizeBytes,
  duration_ms: durationMs,
  ...manifestDocument(manifest),
  keys_path: keysPath ?? null,
});
