// Seals short secrets that must be read back (PRODUCT.md decision 9): AES-256-GCM under a key that is not in the
// database, with the key's id in front and the caller's context as associated data.
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DomainError } from "../domain/errors.ts";
import { flushToDisk } from "./data-directory.ts";
import type { Ids } from "./ids.ts";
import type { Secret } from "./secret.ts";

export interface Sealing {
  /** @param context what the secret belongs to; the same text is needed to open it */
  seal(secret: string, context: string): string;
  /** @throws DomainError `sealing.key_missing`, `sealing.damaged` */
  open(sealed: string, context: string): string;
  /** @returns the id of the key that a secret was sealed under */
  keyIdOf(sealed: string): string;
}

export interface SealingOptions {
  /** directory of the key files, made when missing */
  directory: string;
  ids: Ids;
  /** key given by the operator, 32 bytes in base64; replaces the key file for new secrets */
  provided?: Secret | undefined;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SUFFIX = ".sealing-key";
/** The newest key seals: key files sort by name, and an operator adds 0002 to replace it. */
const FIRST_KEY = `0001${SUFFIX}`;

/**
 * Loads every sealing key, and makes one on the first start.
 * @throws DomainError `sealing.key_invalid` for a key that is not 32 bytes or that others can read
 */
export function openSealing(options: SealingOptions): Sealing {
  const keys = readKeyFiles(options.directory);
  const active = options.provided
    ? decodeKey(options.provided.reveal(), "keys.sealing_key")
    : ([...keys.values()].at(-1) ?? makeKeyFile(options));
  keys.set(keyId(active), active);
  return {
    seal: (secret, context) => sealUnder(active, { secret, context, nonce: options.ids.bytes(NONCE_BYTES) }),
    open: (sealed, context) => openSealed(keys, { sealed, context }),
    keyIdOf: (sealed) => sealed.slice(0, sealed.indexOf(".")),
  };
}

const keyId = (key: Buffer): string => createHash("sha256").update(key).digest("hex").slice(0, 12);

function readKeyFiles(directory: string): Map<string, Buffer> {
  const keys = new Map<string, Buffer>();
  if (!existsSync(directory)) return keys;
  for (const name of readdirSync(directory).sort()) {
    if (!name.endsWith(SUFFIX)) continue;
    const path = join(directory, name);
    refuseReadableByOthers(path);
    const key = decodeKey(readFileSync(path, "utf8"), path);
    keys.set(keyId(key), key);
  }
  return keys;
}

function refuseReadableByOthers(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  throw new DomainError("invalid", "sealing.key_invalid", `${path} can be read by other users`, {
    hint: `chmod 600 '${path}'`,
  });
}

function decodeKey(text: string, source: string): Buffer {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === KEY_BYTES) return key;
  throw new DomainError(
    "invalid",
    "sealing.key_invalid",
    `the sealing key in ${source} is not ${KEY_BYTES} bytes in base64`,
    {
      hint: "make one with: openssl rand -base64 32",
    },
  );
}

/** Two processes may start at once: the first to give its key the name wins, and both use what the file holds. */
function makeKeyFile({ directory, ids }: SealingOptions): Buffer {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, FIRST_KEY);
  const draft = join(directory, `${ids.uuid()}.draft`);
  const encoded = Buffer.from(ids.bytes(KEY_BYTES)).toString("base64");
  try {
    writeFileSync(draft, `${encoded}\n`, { mode: 0o600, flag: "wx", flush: true });
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  for (const place of [directory, dirname(directory)]) flushToDisk(place);
  return decodeKey(readFileSync(path, "utf8"), path);
}

function sealUnder(
  key: Buffer,
  { secret, context, nonce }: { secret: string; context: string; nonce: Uint8Array },
): string {
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${keyId(key)}.${body.toString("base64url")}`;
}

function openSealed(
  keys: ReadonlyMap<string, Buffer>,
  { sealed, context }: { sealed: string; context: string },
): string {
  const [id = "", encoded = ""] = sealed.split(".");
  const key = keys.get(id);
  if (!key) {
    throw new DomainError("unavailable", "sealing.key_missing", `the sealing key ${id} is missing`, {
      hint: "put the key file back into the keys directory, or give the key with keys.sealing_key",
    });
  }
  const body = Buffer.from(encoded, "base64url");
  try {
    const opener = createDecipheriv("aes-256-gcm", key, body.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    opener.setAAD(Buffer.from(context));
    opener.setAuthTag(body.subarray(body.length - TAG_BYTES));
    const middle = body.subarray(NONCE_BYTES, body.length - TAG_BYTES);
    return Buffer.concat([opener.update(middle), opener.final()]).toString("utf8");
  } catch (cause) {
    throw new DomainError("unavailable", "sealing.damaged", "a sealed secret does not open with its key", {
      cause,
    });
  }
}
