// Seals short secrets that must be read back: AES-256-GCM under a key that is not in the database. The id of the key is the
// prefix, and the context of the caller is the associated data. sealing-keys.ts stores the keys.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { DomainError } from "../errors.ts";
import type { Ids } from "../ids.ts";
import type { Secret } from "../secret.ts";
import { decodeKey, RESTORE_KEY, type SealingKey, SealingKeyFiles } from "./sealing-keys.ts";

export interface Sealing {
  /** @param context identifies the owner of the secret; `open` needs the same text */
  seal(secret: string, context: string): string;
  /** @throws DomainError `sealing.key_missing`, `sealing.damaged` */
  open(sealed: string, context: string): string;
  /**
   * A key that was just added may not be used yet, because listing the directory would take longer than the MAC.
   * @returns a MAC of the text for a purpose; base64url
   */
  mac(text: string, purpose: string): string;
  /** @returns the MACs of the text for a purpose under all keys */
  macs(text: string, purpose: string): readonly string[];
  /** @returns whether the MAC was made for this text and purpose under any of the keys */
  isMac(mac: string, text: string, purpose: string): boolean;
  /** @returns the id of the key that sealed a secret */
  keyIdOf(sealed: string): string;
  /** @returns the key that seals: the key of the configuration, or else the newest file */
  activeKey(): SealingKeyView;
  /** @returns all keys that open secrets, oldest first */
  keys(): readonly SealingKeyView[];
  /**
   * @returns the path of the file that `addKey` would make
   * @throws DomainError the errors of `addKey`
   */
  nextPath(): string;
  /**
   * Creates a key file, which all processes use for sealing from now on.
   * @throws DomainError `sealing.key_provided`, `sealing.names_foreign`
   */
  addKey(): SealingKeyView;
}

/** A key without its bytes. */
export type SealingKeyView = Omit<SealingKey, "bytes">;

export interface SealingOptions {
  /** directory of the key files; created if it is missing */
  directory: string;
  ids: Ids;
  /** the operator's key, 32 bytes in base64; seals new secrets instead of the newest key file */
  provided?: Secret | undefined;
  /** false if data exists: then missing keys were lost, and opening creates no new one */
  isNew?: boolean;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const KEY_BYTES = 32;

/**
 * Derived keys by sealing key and purpose, kept because deriving takes as long as a MAC. Purposes are constants, so there are few.
 */
const derived = new WeakMap<Buffer, Map<string, Buffer>>();

/**
 * For texts that clients return unchanged, such as expiring links. Each purpose has its own derived keys, so that a MAC is
 * valid for one purpose only.
 * @returns the HMAC-SHA256 in base64url under the key derived for the purpose (RFC 5869)
 */
export function macOf(sealingKey: Buffer, { text, purpose }: { text: string; purpose: string }): string {
  return createHmac("sha256", keyFor(sealingKey, purpose)).update(text).digest("base64url");
}

function keyFor(sealingKey: Buffer, purpose: string): Buffer {
  const keys = derived.get(sealingKey) ?? new Map<string, Buffer>();
  const known = keys.get(purpose);
  if (known) return known;
  const key = Buffer.from(hkdfSync("sha256", sealingKey, "", `mac:${purpose}`, KEY_BYTES));
  derived.set(sealingKey, keys.set(purpose, key));
  return key;
}

/** Compares in constant time. */
function isSameMac(one: string, other: string): boolean {
  const [mine, theirs] = [Buffer.from(one), Buffer.from(other)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
}

/**
 * Loads all sealing keys, and creates one on the first start. Keys that any process adds later are loaded before the next use.
 * @throws DomainError `sealing.key_invalid` for a key that is not 32 bytes or is readable by other users
 */
export function openSealing({ directory, ids, provided, isNew = true }: SealingOptions): Sealing {
  const files = new SealingKeyFiles(directory, ids);
  const given = provided && { ...decodeKey(provided.reveal(), "keys.sealing_key"), path: undefined };
  if (!given && isNew && files.list().length === 0) files.first();
  const active = (): SealingKey => given ?? files.list().at(-1) ?? files.first();
  const all = (): SealingKey[] => {
    const others = files.list().filter(({ id }) => id !== given?.id);
    return [...others, ...(given ? [given] : [])];
  };
  const macs = (text: string, purpose: string): string[] =>
    all().map(({ bytes }) => macOf(bytes, { text, purpose }));
  const find = (id: string): SealingKey | undefined => (given?.id === id ? given : files.find(id));
  const nextPath = (): string => {
    if (given) throw keyProvided();
    return files.nextPath();
  };
  return {
    seal: (secret, context) => sealUnder(active(), { secret, context, nonce: ids.bytes(NONCE_BYTES) }),
    open: (sealed, context) => openSealed(find(keyIdOf(sealed)), { sealed, context }),
    mac: (text, purpose) => macOf((given ?? files.known().at(-1) ?? active()).bytes, { text, purpose }),
    macs,
    isMac: (mac, text, purpose) => macs(text, purpose).some((own) => isSameMac(mac, own)),
    keyIdOf,
    activeKey: () => viewOf(active()),
    keys: () => all().map(viewOf),
    nextPath,
    addKey: () => viewOf(files.add(nextPath())),
  };
}

const viewOf = ({ id, path }: SealingKey): SealingKeyView => ({ id, path });

const keyIdOf = (sealed: string): string => sealed.slice(0, sealed.indexOf("."));

const keyProvided = (): DomainError =>
  new DomainError(
    "conflict",
    "sealing.key_provided",
    "the sealing key comes from the configuration (keys.sealing_key), which this program does not change",
    {
      hint: "write the old key into a file of mode 600 in the keys directory, such as 0001.sealing-key, give the new one as keys.sealing_key, and start the service again: it seals everything again",
    },
  );

function sealUnder(
  { id, bytes }: SealingKey,
  { secret, context, nonce }: { secret: string; context: string; nonce: Uint8Array },
): string {
  const cipher = createCipheriv("aes-256-gcm", bytes, nonce);
  cipher.setAAD(Buffer.from(context));
  const body = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${id}.${body.toString("base64url")}`;
}

function openSealed(
  key: SealingKey | undefined,
  { sealed, context }: { sealed: string; context: string },
): string {
  const [id, encoded = ""] = sealed.split(".");
  if (!key) {
    throw new DomainError("unavailable", "sealing.key_missing", `the sealing key ${id} is missing`, {
      hint: RESTORE_KEY,
    });
  }
  const body = Buffer.from(encoded, "base64url");
  try {
    const opener = createDecipheriv("aes-256-gcm", key.bytes, body.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    opener.setAAD(Buffer.from(context));
    opener.setAuthTag(body.subarray(body.length - TAG_BYTES));
    const middle = body.subarray(NONCE_BYTES, body.length - TAG_BYTES);
    const secret = opener.update(middle);
    opener.final(); // throws unless the tag matches; adds no bytes in this mode
    return secret.toString("utf8");
  } catch (cause) {
    throw new DomainError("unavailable", "sealing.damaged", "a sealed secret does not open with its key", {
      hint: "the database was changed outside this program; restore the last good backup: quartermaster backup restore FILE",
      cause,
    });
  }
}
