// Exports and imports the sealing keys through an encrypted file. A backup itself never contains keys.
import { basename } from "node:path";
import type { Config } from "../../platform/config/config.ts";
import {
  decryptKeys,
  encryptKeys,
  KEY_FILE_BYTES_MAX,
  type KeyFileContent,
  type KeyFileEntry,
  type PassphraseCost,
} from "../../platform/crypto/key-file.ts";
import { putOwnKey, readOwnKey } from "../../platform/crypto/own-signing-key.ts";
import { decodeKey, SealingKeyFiles } from "../../platform/crypto/sealing-keys.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { readFile, replaceFile } from "../../platform/files/operator-files.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Secret } from "../../platform/secret.ts";

export interface KeyPlace {
  directory: DataDirectory;
  config: Config;
  ids: Ids;
}

/** @returns every sealing key of the installation, the one from the configuration first */
export function sealingKeysAt({ directory, config, ids }: KeyPlace): KeyFileEntry[] {
  const provided = config.get("keys.sealing_key");
  const given = provided && decodeKey(provided.reveal(), "keys.sealing_key");
  const files = new SealingKeyFiles(directory.keys, ids).list();
  return [
    ...(given ? [{ ...given, path: undefined }] : []),
    ...files.filter(({ id }) => id !== given?.id),
  ].map(({ id, bytes, path }) => ({
    name: path === undefined ? `0000-${id}.sealing-key` : basename(path),
    id,
    key: bytes.toString("base64"),
  }));
}

export interface NewKeyFile {
  path: string;
  passphrase: Secret;
  cost?: PassphraseCost | undefined;
}

/** Writes every key to a file of mode 0600, encrypted with the passphrase. */
export async function writeKeyFile(place: KeyPlace, to: NewKeyFile): Promise<void> {
  const bundleSigning = readOwnKey(place.directory.keys)?.reveal() ?? null;
  const keys = { sealing: sealingKeysAt(place), bundleSigning };
  const { path, ...by } = to;
  await replaceFile(path, encryptKeys(keys, { ...by, ids: place.ids }), { mode: 0o600 });
}

/** @throws DomainError `keys.unreadable`, `keys.wrong_passphrase`, `file.*` */
export async function readKeyFile(from: { path: string; passphrase: Secret }): Promise<KeyFileContent> {
  const bytes = await readFile(from.path, KEY_FILE_BYTES_MAX);
  return decryptKeys(Buffer.from(bytes).toString("utf8"), from.passphrase);
}

/** Adds keys to the data directory; existing keys do not change. */
export function importKeys({ directory, ids }: Omit<KeyPlace, "config">, keys: KeyFileContent): void {
  const files = new SealingKeyFiles(directory.keys, ids);
  for (const { name, key } of keys.sealing) files.adopt(name, Buffer.from(key, "base64"));
  if (keys.bundleSigning !== null) putOwnKey(directory.keys, { pem: keys.bundleSigning, ids });
}
