// The key with which this installation signs exported files: one file beside the sealing keys, created when the operator
// asks for it. file-signatures.ts makes the signatures.
import { generateKeyPairSync } from "node:crypto";
import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { flushToDisk, readOwnFile } from "../files/data-files.ts";
import type { Ids } from "../ids.ts";
import { Secret } from "../secret.ts";
import { type FileSigner, fileSigner } from "./file-signatures.ts";

const NAME = "bundle-signing-key.pem";

/**
 * @param directory directory of the keys of a data directory
 * @returns the signer; undefined without a key
 * @throws DomainError `signing.not_ed25519` if the file holds something else
 */
export function findOwnSigner(directory: string): FileSigner | undefined {
  const path = join(directory, NAME);
  return existsSync(path) ? fileSigner(new Secret(readOwnFile(path).text), path) : undefined;
}

/** @returns the text of the file, for an export; undefined without a key */
export function readOwnKey(directory: string): Secret | undefined {
  const path = join(directory, NAME);
  return existsSync(path) ? new Secret(readOwnFile(path).text) : undefined;
}

/** Creates the key. If another process has just created it, both use that key. */
export function makeOwnKey(directory: string, ids: Pick<Ids, "uuid">): void {
  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
  putOwnKey(directory, { pem: pem.toString(), ids });
}

/** Stores an exported key, unless a key exists. */
export function putOwnKey(directory: string, { pem, ids }: { pem: string; ids: Pick<Ids, "uuid"> }): void {
  const path = join(directory, NAME);
  const draft = join(directory, `${ids.uuid()}.draft`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, pem, { mode: 0o600, flag: "wx", flush: true });
    linkSync(draft, path); // the file gets its final name only when it is complete
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  flushToDisk(directory);
}
