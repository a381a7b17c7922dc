// Ed25519 signatures of files that are carried between machines: catalog bundles and releases. `openssl pkeyutl -rawin` makes and
// checks the same signatures. Keys are PEM. The operator names a file with the keys to trust.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { DomainError } from "../errors.ts";
import type { Secret } from "../secret.ts";

export const SIGNATURE_BYTES = 64;
/** keys of one file, which may hold both the old and the new keys of a signer */
export const TRUSTED_KEYS_MAX = 16;
const KIND = "ed25519";
const PUBLIC_KEY = /-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g;

/** A public key that checks signatures. */
export interface TrustedKey {
  /** SHA-256 of its DER (SubjectPublicKeyInfo), in hexadecimal */
  keyId: string;
  isSigned(bytes: Uint8Array, signature: Uint8Array): boolean;
}

export interface FileSigner {
  keyId: string;
  /** PEM, ending with a line break */
  publicKey: string;
  sign(bytes: Uint8Array): Uint8Array;
}

/**
 * @param privateKey PKCS #8 in PEM
 * @param source name of the file for errors
 * @throws DomainError `signing.not_ed25519`
 */
export function fileSigner(privateKey: Secret, source: string): FileSigner {
  const key = ed25519(
    () => createPrivateKey(privateKey.reveal()),
    `${source} holds no Ed25519 private key in PEM`,
  );
  const publicKey = createPublicKey(key);
  return {
    keyId: keyIdOf(publicKey),
    publicKey: publicKey.export({ type: "spki", format: "pem" }).toString(),
    sign: (bytes) => sign(null, bytes, key),
  };
}

/** limit for a file of trusted keys, and for a detached signature */
export const TRUSTED_KEYS_BYTES_MAX = 65_536;

/**
 * @param text one or more public keys in PEM
 * @param source name of the file for errors
 * @throws DomainError `signing.not_ed25519` for no key, too many keys, or a key of another kind
 */
export function readTrustedKeys(text: string, source: string): TrustedKey[] {
  const blocks = text.match(PUBLIC_KEY) ?? [];
  if (blocks.length > TRUSTED_KEYS_MAX)
    throw notEd25519(`${source} holds more than ${TRUSTED_KEYS_MAX} keys`);
  const wrong = `${source} must hold Ed25519 public keys in PEM and nothing else`;
  if (blocks.length === 0) throw notEd25519(wrong);
  return blocks.map((pem) => {
    const key = ed25519(() => createPublicKey(pem), wrong);
    return { keyId: keyIdOf(key), isSigned: (bytes, signature) => verify(null, bytes, key, signature) };
  });
}

const keyIdOf = (key: KeyObject): string =>
  createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("hex");

/** Drops the library's message, which may quote the input. */
function ed25519(read: () => KeyObject, wrong: string): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    throw notEd25519(wrong);
  }
  if (key.asymmetricKeyType === KIND) return key;
  throw notEd25519(wrong);
}

const notEd25519 = (message: string): DomainError =>
  new DomainError("invalid", "signing.not_ed25519", message, {
    hint: "create a key pair: openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout",
  });
