// Finds the key that signs a file: this installation's key, or the one in --signing-key-file.
import { resolve } from "node:path";
import { type FileSigner, fileSigner } from "../../../src/platform/crypto/file-signatures.ts";
import { findOwnSigner } from "../../../src/platform/crypto/own-signing-key.ts";
import { openDataDirectory } from "../../../src/platform/data-directory/data-directory.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { readSecretFile } from "../../input/secret-input.ts";

/** @returns the signer of `--signing-key-file`, or of this installation. @throws DomainError `bundle.no_key`, `signing.not_ed25519` */
export function signerFor(call: SettingsCall): FileSigner {
  const path = call.text("signingKeyFile");
  if (path === undefined) return ownSigner(openDataDirectory(call.config.get("data_dir")).keys);
  return fileSigner(readSecretFile(resolve(call.context.cwd, path)), path);
}

/** @param keys path of the keys folder of a data directory. @throws DomainError `bundle.no_key` */
export function ownSigner(keys: string): FileSigner {
  const signer = findOwnSigner(keys);
  if (signer) return signer;
  throw new DomainError("conflict", "bundle.no_key", "this installation has no bundle key yet", {
    hint: "create it and save the public key for the importing side: quartermaster catalog bundle-key > bundle.pub",
  });
}
