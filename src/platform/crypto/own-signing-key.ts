// The key with which this installation signs what leaves it: one file beside the sealing keys, made when the operator asks
// for it. What is signed, and how, is file-signatures.ts.
import { generateKeyPairSync } from "node:crypto";
import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ids } from "../ids.ts";
import { flushToDisk, readOwnFile } from "../own-files.ts";
import { Secret } from "../secret.ts";
import { type FileSigner, fileSigner } from "./file-signatures.ts";

const NAME = "bundle-signing-key.pem";

/**
 * @param directory of the keys of a data directory
 * @throws DomainError `signing.not_ed25519` when the file was replaced by something else
 */
export function findOwnSigner(directory: string): FileSigner | undefined {
  const path = join(directory, NAME);
  return existsSync(path) ? fileSigner(new Secret(readOwnFile(path).text), path) : undefined;
}

/** @returns the file's text, to be kept elsewhere; undefined where there is none */
export function readOwnKey(directory: string): Secret | undefined {
  const path = join(directory, NAME);
  return existsSync(path) ? new Secret(readOwnFile(path).text) : undefined;
}

/** Makes the key, unless another process was faster: both use what the file holds. */
export function makeOwnKey(directory: string, ids: Pick<Ids, "uuid">): void {
  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
  putOwnKey(directory, { pem: pem.toString(), ids });
}

/** Puts a key there that was kept elsewhere, unless there is one. */
export function putOwnKey(directory: string, { pem, ids }: { pem: string; ids: Pick<Ids, "uuid"> }): void {
  const path = join(directory, NAME);
  const draft = join(directory, `${ids.uuid()}.draft`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(draft, pem, { mode: 0o600, flag: "wx", flush: true });
    linkSync(draft, path); // the name is given to a whole key only
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  flushToDisk(directory);
}
