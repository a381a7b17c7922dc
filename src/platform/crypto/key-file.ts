// The file that exports keys, encrypted under a passphrase and separate from any backup. scrypt (RFC 7914) derives the key
// from the passphrase, and AES-256-GCM encrypts the content. sealing.ts uses the keys.
import { createCipheriv, createDecipheriv, scryptSync } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DomainError } from "../errors.ts";
import type { Ids } from "../ids.ts";
import type { Secret } from "../secret.ts";

/** The scrypt parameters; the file contains them. */
export interface PassphraseCost {
  n: number;
  r: number;
  p: number;
}

export const PASSPHRASE_LENGTH_MIN = 12;
export const KEY_FILE_BYTES_MAX = 4 * 1024 * 1024;
/** Takes 128 MB and about half a second: the minimum that OWASP recommends. */
const PASSPHRASE_COST: PassphraseCost = { n: 131_072, r: 8, p: 1 };
/** Upper bounds of the parameters in a file that is read. */
export const COST_MAX = { n: 1_048_576, r: 16, p: 4 };
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface KeyFileEntry {
  /** its file name in the keys directory */
  name: string;
  /** first digits of its digest, which prefix every secret that it sealed */
  id: string;
  /** 32 bytes in base64 */
  key: string;
}

export interface KeyFileContent {
  sealing: readonly KeyFileEntry[];
  /** PEM of the key that signs bundles; null without one */
  bundleSigning: string | null;
}

const KeptKeysSchema = Type.Object({
  sealing: Type.Array(
    Type.Object({
      name: Type.String({ pattern: "^[0-9A-Za-z][0-9A-Za-z_-]{0,99}\\.sealing-key$" }),
      id: Type.String({ pattern: "^[0-9a-f]{12}$" }),
      key: Type.String({ maxLength: 100 }),
    }),
    { maxItems: 10_000 },
  ),
  bundleSigning: Type.Union([Type.String({ maxLength: 10_000 }), Type.Null()]),
});

const FileSchema = Type.Object({
  format: Type.Literal("quartermaster-keys-1"),
  n: Type.Integer({ minimum: 2, maximum: COST_MAX.n }),
  r: Type.Integer({ minimum: 1, maximum: COST_MAX.r }),
  p: Type.Integer({ minimum: 1, maximum: COST_MAX.p }),
  salt: Type.String(),
  nonce: Type.String(),
  sealed: Type.String(),
});

/** @throws DomainError `passphrase.too_short` */
export function assertPassphraseLength(passphrase: Secret): void {
  if (passphrase.reveal().length < PASSPHRASE_LENGTH_MIN) throw tooShort();
}

export interface Encrypting {
  passphrase: Secret;
  cost?: PassphraseCost | undefined;
  ids: Ids;
}

/**
 * @returns the text of a file that only the passphrase decrypts
 * @throws DomainError `passphrase.too_short`
 */
export function encryptKeys(
  keys: KeyFileContent,
  { passphrase, ids, cost = PASSPHRASE_COST }: Encrypting,
): string {
  assertPassphraseLength(passphrase);
  const salt = Buffer.from(ids.bytes(SALT_BYTES));
  const nonce = Buffer.from(ids.bytes(NONCE_BYTES));
  const cipher = createCipheriv("aes-256-gcm", derived(passphrase, { ...cost, salt }), nonce);
  const sealed = Buffer.concat([
    cipher.update(JSON.stringify(keys), "utf8"),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  const base64 = { salt: text(salt), nonce: text(nonce), sealed: text(sealed) };
  return `${JSON.stringify({ format: "quartermaster-keys-1", ...cost, ...base64 }, null, 1)}\n`;
}

/**
 * @param file text made by `encryptKeys`
 * @throws DomainError `keys.unreadable` for another file, `keys.wrong_passphrase` also for a file that was changed
 */
export function decryptKeys(file: string, passphrase: Secret): KeyFileContent {
  const { salt, nonce, sealed, ...cost } = readFile(file);
  try {
    const key = derived(passphrase, { ...cost, salt: bytes(salt) });
    const body = bytes(sealed);
    const opener = createDecipheriv("aes-256-gcm", key, bytes(nonce), { authTagLength: TAG_BYTES });
    opener.setAuthTag(body.subarray(body.length - TAG_BYTES));
    const middle = body.subarray(0, body.length - TAG_BYTES);
    const keys: unknown = JSON.parse(Buffer.concat([opener.update(middle), opener.final()]).toString());
    if (Value.Check(KeptKeysSchema, keys)) return keys;
  } catch (cause) {
    throw new DomainError("unverified", "keys.wrong_passphrase", "the key file cannot be decrypted", {
      hint: "check the passphrase; if it is right, the file was changed or damaged",
      cause,
    });
  }
  throw unreadable();
}

function readFile(file: string): Static<typeof FileSchema> {
  try {
    const json: unknown = JSON.parse(file);
    if (Value.Check(FileSchema, json)) return json;
  } catch {
    // not JSON
  }
  throw unreadable();
}

const derived = (
  passphrase: Secret,
  { n: N, r, p, salt }: { n: number; r: number; p: number; salt: Uint8Array },
): Buffer =>
  scryptSync(passphrase.reveal().normalize("NFC"), salt, 32, {
    N,
    r,
    p,
    maxmem: 256 * COST_MAX.r * COST_MAX.n,
  });

const text = (raw: Uint8Array): string => Buffer.from(raw).toString("base64");
const bytes = (encoded: string): Buffer => Buffer.from(encoded, "base64");

const unreadable = (): DomainError =>
  new DomainError("unverified", "keys.unreadable", "this is not a key file", {
    hint: "name the .qmk file that `backup create --with-keys` wrote",
  });

const tooShort = (): DomainError =>
  new DomainError(
    "invalid",
    "passphrase.too_short",
    `the passphrase has fewer than ${PASSPHRASE_LENGTH_MIN} characters`,
    { hint: "choose a long one: these keys decrypt every secret in the database" },
  );
