// Reads and creates the files of sealing keys. Another process may add a file at any time, so the directory is listed again
// before each use. sealing.ts uses the keys.
import { createHash } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, DomainError } from "../errors.ts";
import { flushToDisk, permissionsText, readOwnFile } from "../files/data-files.ts";
import type { Ids } from "../ids.ts";

/** A loaded key. */
export interface SealingKey {
  /** first digits of its digest, which prefix every secret that it sealed */
  id: string;
  bytes: Buffer;
  /** path of its file; undefined for the key of the configuration */
  path: string | undefined;
}

const KEY_BYTES = 32;
const SUFFIX = ".sealing-key";
const NUMBER_DIGITS = 4;
/** File names that this program creates. Files are sorted by name, and the last key seals. */
const NUMBERED = new RegExp(`^\\d{${NUMBER_DIGITS}}$`);
const NONE = "0".repeat(NUMBER_DIGITS);
/** Highest number in a file name of a key. */
const KEY_NUMBER_MAX = 10 ** NUMBER_DIGITS - 1;

export class SealingKeyFiles {
  #names = "";
  #keys: readonly SealingKey[];

  /**
   * @throws DomainError `sealing.key_invalid` for a key that is not 32 bytes or is readable by other users, `sealing.key_unreadable`
   */
  constructor(
    private readonly directory: string,
    private readonly ids: Ids,
  ) {
    this.#keys = this.#read(this.#list());
  }

  /** @returns the keys that were in the directory when it was last listed, oldest first */
  known(): readonly SealingKey[] {
    return this.#keys;
  }

  /** @returns the keys that are in the directory now, oldest first */
  list(): readonly SealingKey[] {
    const names = this.#list();
    if (names.join() === this.#names) return this.#keys;
    try {
      return this.#read(names);
    } catch {
      return this.#keys; // a file is being added or removed; the next call reads the directory again
    }
  }

  /** @returns the key with that id. Lists the directory only for an unknown id. */
  find(id: string): SealingKey | undefined {
    const isWanted = (key: SealingKey): boolean => key.id === id;
    return this.#keys.find(isWanted) ?? this.list().find(isWanted);
  }

  /** Creates the first key. If another process has just created it, both use that key. */
  first(): SealingKey {
    const path = this.#pathOf(1);
    try {
      this.#make(path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    }
    this.#flush();
    return keyIn(path);
  }

  /**
   * @returns the path of the next key
   * @throws DomainError `sealing.names_foreign` if the newest file name has no successor
   */
  nextPath(): string {
    const newest = this.#list().at(-1)?.slice(0, -SUFFIX.length) ?? NONE;
    const number = Number(newest) + 1;
    if (!NUMBERED.test(newest) || number > KEY_NUMBER_MAX) throw foreignNames(newest);
    return this.#pathOf(number);
  }

  add(path: string): SealingKey {
    this.#make(path);
    this.#flush();
    return keyIn(path);
  }

  /** Adds an exported key, under its former name if that is free. A key that is already present stays. */
  adopt(name: string, bytes: Uint8Array): void {
    const { id } = decodeKey(Buffer.from(bytes).toString("base64"), name);
    if (this.list().some((key) => key.id === id)) return;
    const path = join(this.directory, name);
    // This name sorts before the taken one, so the key that has the taken name continues to seal.
    const other = join(this.directory, `${name.slice(0, -SUFFIX.length)}-${id}${SUFFIX}`);
    this.#make(existsSync(path) ? other : path, bytes);
    this.#flush();
  }

  #list(): string[] {
    if (!existsSync(this.directory)) return [];
    return asKeyFile(this.directory, () => readdirSync(this.directory))
      .filter((name) => name.endsWith(SUFFIX))
      .sort();
  }

  #read(names: readonly string[]): readonly SealingKey[] {
    this.#keys = names.map((name) => keyIn(join(this.directory, name)));
    this.#names = names.join();
    return this.#keys;
  }

  #pathOf(number: number): string {
    return join(this.directory, `${String(number).padStart(NUMBER_DIGITS, "0")}${SUFFIX}`);
  }

  /** Creates a key file. It gets its final name only when it is complete, and never replaces another file. */
  #make(path: string, bytes = this.ids.bytes(KEY_BYTES)): void {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const draft = join(this.directory, `${this.ids.uuid()}.draft`);
    const encoded = Buffer.from(bytes).toString("base64");
    try {
      writeFileSync(draft, `${encoded}\n`, { mode: 0o600, flag: "wx", flush: true });
      linkSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  /** Flushes the file name to the disk: it must not be lost after the key has sealed a secret. */
  #flush(): void {
    for (const place of [this.directory, dirname(this.directory)]) flushToDisk(place);
  }
}

/**
 * @param text 32 bytes in base64
 * @param source origin of the text, for the error
 * @throws DomainError `sealing.key_invalid`
 */
export function decodeKey(text: string, source: string): Omit<SealingKey, "path"> {
  const bytes = Buffer.from(text.trim(), "base64");
  if (bytes.length === KEY_BYTES)
    return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 12), bytes };
  const message = `the sealing key in ${source} is not ${KEY_BYTES} bytes in base64`;
  throw new DomainError("invalid", "sealing.key_invalid", message, { hint: RESTORE_KEY });
}

/** Never recommends a new key in place of a lost key, because a new key cannot open what the lost one sealed. */
export const RESTORE_KEY =
  "put the same key back: from the .qmk file of `backup create --with-keys` (quartermaster backup restore FILE --keys KEYFILE), from a copy of the keys directory, or from the credential that holds it (keys.sealing_key); a new key does not open what this one sealed";

function keyIn(path: string): SealingKey {
  const { text, mode } = asKeyFile(path, () => readOwnFile(path));
  if ((mode & 0o077) === 0) return { ...decodeKey(text, path), path };
  throw new DomainError("invalid", "sealing.key_invalid", `${path} can be read by other users`, {
    hint: `chmod 600 '${path}'`,
  });
}

/** @throws DomainError `sealing.key_unreadable` if this user may not read the file or its folder */
function asKeyFile<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const code = codeOf(cause);
    if (code !== "EACCES" && code !== "EPERM") throw cause;
    const found = statSync(path, { throwIfNoEntry: false });
    const reader = process.geteuid?.();
    const mode = found?.isDirectory() ? "700" : "600";
    throw new DomainError(
      "forbidden",
      "sealing.key_unreadable",
      `the sealing key ${path}${found ? ` (${permissionsText(found)})` : ""} cannot be read by user id ${reader}`,
      { hint: `as root: chown ${reader} '${path}' && chmod ${mode} '${path}'`, cause },
    );
  }
}

const foreignNames = (newest: string): DomainError =>
  new DomainError(
    "conflict",
    "sealing.names_foreign",
    `the newest key file is ${newest}${SUFFIX}, and this program can create no name after it`,
    {
      hint: "create the next key yourself: openssl rand -base64 32 into a file of mode 600 whose name sorts after it",
    },
  );
