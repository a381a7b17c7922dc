// Reads the harness file from the local disk with its detached signature (`FILE.sig`). The file is read whole and verified
// against the trusted keys before it is parsed.
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { BUILT_IN, type HarnessesInForce } from "../../domain/harnesses/harness-facts.ts";
import { HARNESS_FILE_BYTES_MAX, readHarnessFile } from "../../domain/harnesses/harness-file.ts";
import type { Config } from "../../platform/config/config.ts";
import { readTrustedKeys, TRUSTED_KEYS_BYTES_MAX } from "../../platform/crypto/file-signatures.ts";
import { DomainError } from "../../platform/errors.ts";
import { openRegularFile } from "../../platform/files/operator-files.ts";
import { sha256Hex } from "../../platform/ids.ts";

export const signaturePath = (file: string): string => `${file}.sig`;

/**
 * @returns the facts of the configured file, or else the built-in facts
 * @throws DomainError `harnesses.unsigned`, `harnesses.untrusted`, `harnesses.invalid`, `file.*`, `signing.not_ed25519`
 */
export function readHarnessFacts(config: Pick<Config, "get">): HarnessesInForce {
  const file = config.get("harnesses.file");
  const trust = config.get("harnesses.trust");
  if (file === undefined || trust === undefined) return BUILT_IN; // validation requires both settings together
  return readSignedHarnesses(file, trust);
}

/**
 * @param trust file of public keys
 * @throws DomainError as readHarnessFacts
 */
export function readSignedHarnesses(file: string, trust: string): HarnessesInForce {
  const bytes = readBounded(file, HARNESS_FILE_BYTES_MAX);
  const keys = readTrustedKeys(readBounded(trust, TRUSTED_KEYS_BYTES_MAX).toString(), trust);
  const signature = readSignature(file);
  const signer = keys.find((key) => key.isSigned(bytes, signature));
  if (!signer) throw untrustedFile(file, trust);
  const extension = readHarnessFile(bytes, file);
  return { extension, source: { file, sha256: sha256Hex(bytes), signer: signer.keyId } };
}

/** @throws DomainError `file.*` */
export function readBounded(path: string, bytesMax: number): Buffer {
  const descriptor = openRegularFile(path);
  try {
    const { size } = fstatSync(descriptor);
    if (size <= bytesMax) return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  throw new DomainError("invalid", "file.too_large", `${path} has more than ${bytesMax} bytes`);
}

function readSignature(file: string): Buffer {
  try {
    return readBounded(signaturePath(file), TRUSTED_KEYS_BYTES_MAX);
  } catch (error) {
    if (!(error instanceof DomainError) || error.reason !== "file.missing") throw error;
    throw new DomainError(
      "unverified",
      "harnesses.unsigned",
      `${file} has no signature ${signaturePath(file)}`,
      {
        hint: "copy the signature together with the file, or sign the file: quartermaster harnesses sign FILE",
      },
    );
  }
}

const untrustedFile = (file: string, trust: string): DomainError =>
  new DomainError(
    "unverified",
    "harnesses.untrusted",
    `${file} was changed after it was signed, or no key in ${trust} signed it`,
    { hint: "copy file and signature again, or add the signer's public key to the file of harnesses.trust" },
  );
