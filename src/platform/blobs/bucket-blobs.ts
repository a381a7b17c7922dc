// Blobs that are also kept in a bucket of an object store. Reads use the folder first and fetch a missing file from the
// bucket, so a data directory that lost its files recovers them.
import type { Bucket } from "../object-store/bucket.ts";
import type { Blobs, Digest } from "./blobs.ts";

export interface BucketBlobsOptions {
  bucket: Pick<Bucket, "head" | "read" | "put" | "remove">;
  /** the largest accepted object */
  maxBytes: number;
}

/** @param local keeps the files @returns its operations, which also throw DomainError `object_store.*` */
export function keepInBucket(local: Blobs, { bucket, maxBytes }: BucketBlobsOptions): Blobs {
  const isStored = async (digest: Digest) => (await bucket.head(keyOf(digest)))?.sha256 === digest;
  const downloadFromBucket = async (digest: Digest): Promise<boolean> => {
    const bytes = await bucket.read(keyOf(digest));
    if (!bytes) return false;
    await local.put(bytes, { expectedDigest: digest, maxBytes });
    return true;
  };
  const upload = async (digest: Digest, sizeBytes: number, signal?: AbortSignal) => {
    if (await isStored(digest)) return;
    const object = { key: keyOf(digest), sha256: digest, sizeBytes, contentType: "application/gzip" };
    await bucket.put(object, local.read(digest), { ...(signal && { signal }) });
  };
  return {
    ...local,
    async put(source, options) {
      const stored = await local.put(source, options);
      await upload(stored.digest, stored.sizeBytes, options.signal);
      return stored;
    },
    async adopt(file, digest) {
      await local.adopt(file, digest);
      await upload(digest, local.size(digest) ?? 0);
    },
    has: async (digest) => (await local.has(digest)) || (await downloadFromBucket(digest)),
    async *read(digest) {
      if (!(await local.has(digest))) await downloadFromBucket(digest);
      yield* local.read(digest);
    },
    async verify(digest, options) {
      const result = await local.verify(digest, options);
      if (result !== "missing" || !(await downloadFromBucket(digest))) return result;
      return await local.verify(digest, options);
    },
    async remove(digest) {
      await bucket.remove(keyOf(digest));
      return await local.remove(digest);
    },
  };
}

const keyOf = (digest: Digest): string => `sha256/${digest.slice(0, 2)}/${digest}`;
