// The store of the replica: folders named after terms, with Litestream's files in them, and small records beside them.
// Litestream writes and restores the files.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { codeOf, DomainError } from "../../platform/errors.ts";
import { type Bucket, LIST_KEYS_MAX } from "../../platform/object-store/bucket.ts";

export interface ReplicaObject {
  /** below the place of the replica, with slashes */
  key: string;
  /** UTC milliseconds */
  modifiedAtMs: number;
}

/** Every method throws DomainError `unavailable` if the store is unreachable. */
export interface ReplicaStore {
  /** for messages */
  readonly url: string;
  /** @returns at most `max` files below a prefix and after `after`, in the order of keys */
  list(range: { prefix: string; after?: string; max?: number }): Promise<readonly ReplicaObject[]>;
  /** @returns the names of the top-level files and folders, for a store where that is cheaper than listing */
  names?(): Promise<readonly string[]>;
  /** @returns undefined if there is no such object */
  read(key: string): Promise<string | undefined>;
  /** @returns false if there is one already */
  create(key: string, text: string): Promise<boolean>;
  replace(key: string, text: string): Promise<void>;
}

/** @param prefix of the replica in the bucket */
export const bucketReplica = (
  bucket: Bucket,
  { url, prefix }: { url: string; prefix: string },
): ReplicaStore => ({
  url,
  async list({ prefix: part, after, max = LIST_KEYS_MAX }) {
    const range = { prefix: prefix + part, max, ...(after !== undefined && { after: prefix + after }) };
    const { objects } = await bucket.list(range);
    return objects.map(({ key, modifiedAtMs }) => ({ key: key.slice(prefix.length), modifiedAtMs }));
  },
  read: async (key) => (await bucket.readText(prefix + key))?.text,
  create: async (key, text) =>
    (await bucket.putIf({ key: prefix + key, text, expected: undefined })) !== undefined,
  async replace(key, text) {
    const found = await bucket.readText(prefix + key);
    await bucket.putIf({ key: prefix + key, text, expected: found?.etag });
  },
});

/** @param path absolute; a missing folder holds nothing */
export const folderReplica = (path: string, url: string): ReplicaStore => ({
  url,
  list: async ({ prefix, after = "", max = LIST_KEYS_MAX }) =>
    reachable(path, () =>
      filesBelow(path, prefix)
        .filter(({ key }) => key.startsWith(prefix) && key > after)
        .sort((one, other) => (one.key < other.key ? -1 : 1))
        .slice(0, max),
    ),
  read: async (key) =>
    reachable(path, () => (existsSync(join(path, key)) ? readFileSync(join(path, key), "utf8") : undefined)),
  create: async (key, text) =>
    reachable(path, () => {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      try {
        writeFileSync(join(path, key), text, { flag: "wx", mode: 0o600, flush: true });
        return true;
      } catch (error) {
        if (codeOf(error) === "EEXIST") return false;
        throw error;
      }
    }),
  replace: async (key, text) =>
    reachable(path, () => {
      writeFileSync(join(path, `${key}.partial`), text, { mode: 0o600, flush: true });
      renameSync(join(path, `${key}.partial`), join(path, key));
    }),
});

/** Reads only the folders that match the prefix. */
function filesBelow(root: string, prefix: string): ReplicaObject[] {
  const start = prefix.includes("/") ? join(root, dirname(`${prefix}x`)) : root;
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .flatMap((file) => {
      const found = statSync(file, { throwIfNoEntry: false }); // Litestream may remove old files at any time
      const key = relative(root, file).split(sep).join("/");
      return found ? [{ key, modifiedAtMs: Math.floor(found.mtimeMs) }] : [];
    });
}

function reachable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const message = `the folder of the replica cannot be used: ${path} (${codeOf(cause) ?? "unknown"})`;
    throw new DomainError("unavailable", "standby.store_unreachable", message, {
      hint: "check that its disk is mounted, and that the owner of the data directory may use it",
      cause,
    });
  }
}
