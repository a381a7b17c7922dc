// Captured sessions in a bucket of an S3-compatible store. Workstations upload and download the bytes directly, at URLs that we
// sign. The store compares the uploaded bytes with the announced digest.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import { DomainError, invariant } from "../../../platform/errors.ts";
import type { Bucket } from "../../../platform/object-store/bucket.ts";
import { failureIn } from "../../../platform/object-store/failures.ts";
import { storeUnavailable } from "../errors.ts";
import { BUNDLE_FORMAT } from "../model.ts";
import type { AnnouncedObject, ListedObject, ObjectStore } from "./object-store.ts";

export interface S3ObjectsDependencies {
  bucket: Bucket;
  /** prefix of every key; empty, or ending with a slash */
  prefix: string;
  clock: Clock;
}

/** Key, after the prefix, of the object that marks the bucket as claimed by this service. */
const MARKER = ".quartermaster";

/** @returns the store; places are keys */
export function createS3Objects({ bucket, prefix, clock }: S3ObjectsDependencies): ObjectStore {
  const secondsUntil = (expiresAtSeconds: number): number => {
    const seconds = expiresAtSeconds - Math.floor(clock.nowMs() / SECOND_MS);
    invariant(seconds >= 1, "an address is signed before it expires");
    return seconds;
  };
  const open = async (place: string, signal: AbortSignal | undefined) => {
    const bytes = await reached(bucket.read(place, { signal }));
    return bytes && piecesOf(bytes);
  };
  return {
    kind: "s3",
    placeOf: (announced) =>
      `${prefix}${announced.organizationId}/${announced.sessionId}/${announced.id}.${extensionOf(announced)}`,
    uploadRequest: ({ place: key, sha256, sizeBytes, contentType }, expiresAtSeconds) => ({
      ...bucket.presignPut({ key, sha256, sizeBytes, contentType }, secondsUntil(expiresAtSeconds)),
      method: "PUT",
    }),
    downloadUrl: ({ place: key }, { fileName, expiresAtSeconds }) =>
      bucket.presignGet(
        {
          key,
          contentType: "application/octet-stream",
          contentDisposition: `attachment; filename="${fileName}"`,
        },
        secondsUntil(expiresAtSeconds),
      ),
    async inspect(place) {
      const found = await reached(bucket.head(place));
      if (found) return { sizeBytes: found.sizeBytes, sha256: found.sha256 ?? null };
      await reached(bucket.check()); // HEAD has no error code, so a missing bucket looks like a missing object
      return undefined;
    },
    async hash(place, { signal } = {}) {
      const bytes = await open(place, signal);
      if (!bytes) return undefined;
      const hasher = new Bun.CryptoHasher("sha256");
      for await (const piece of bytes) hasher.update(piece);
      return hasher.digest("hex");
    },
    async *read(place, { signal } = {}) {
      const bytes = await open(place, signal);
      if (!bytes) throw storeUnavailable(new Error("there is no such object"));
      yield* bytes;
    },
    async put(key, bytes, { signal, ...expected }) {
      const sent = new Sent();
      const limits = signal ? { signal } : {};
      try {
        await bucket.put({ ...expected, key }, sent.pass(bytes), limits);
      } catch (error) {
        throw failureIn(error)?.status === 400 && sent.isOther(expected)
          ? digestMismatch()
          : asUnavailable(error);
      }
      const isOther = sent.isOther(expected);
      if (isOther === undefined)
        throw storeUnavailable(new Error("the store accepted bytes before they arrived"));
      if (!isOther) return;
      await reached(bucket.remove(key));
      throw digestMismatch();
    },
    remove: (place) => reached(bucket.remove(place)),
    list: () => listed(bucket, prefix),
    check: () => reached(bucket.check()),
    isOurs: async () => (await reached(bucket.head(prefix + MARKER))) !== undefined,
    claim: () => reached(mark(bucket, prefix + MARKER)),
    space: () => undefined,
  };
}

/** The key format of the reference deployment, so that its bucket can still be used. */
function extensionOf({ artifactFormat, contentType }: AnnouncedObject): string {
  if (artifactFormat === BUNDLE_FORMAT) return "tgz";
  return contentType.toLowerCase().includes("ndjson") ? "jsonl" : "json";
}

/** Other software may keep its own objects in the bucket; the sweep must never list them. */
const OBJECT = /^(?:[0-9a-f-]{36}\/){2}[0-9a-f-]{36}\.(?:tgz|jsonl|json)$/;

async function* listed(bucket: Bucket, prefix: string): AsyncGenerator<ListedObject> {
  let after = "";
  for (;;) {
    const { objects, isTruncated } = await reached(bucket.list({ prefix, after }));
    for (const { key: place, ...found } of objects)
      if (OBJECT.test(place.slice(prefix.length))) yield { place, ...found };
    const last = objects.at(-1)?.key;
    if (!isTruncated || last === undefined) return;
    after = last;
  }
}

async function mark(bucket: Bucket, key: string): Promise<void> {
  const bytes = new TextEncoder().encode("captured sessions of Quartermaster\n");
  const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  await bucket.put({ key, sha256, sizeBytes: bytes.length, contentType: "text/plain" }, bytes);
}

/** The bytes that a store has taken from us. */
class Sent {
  readonly #hasher = new Bun.CryptoHasher("sha256");
  #bytes = 0;
  #isEnded = false;

  async *pass(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      this.#hasher.update(piece);
      this.#bytes += piece.length;
      yield piece;
    }
    this.#isEnded = true;
  }

  /** @returns whether other bytes were sent; undefined if the store did not take all of them. Call it once */
  isOther({ sha256, sizeBytes }: Pick<AnnouncedObject, "sha256" | "sizeBytes">): boolean | undefined {
    if (!this.#isEnded && this.#bytes < sizeBytes) return undefined;
    return this.#hasher.digest("hex") !== sha256;
  }
}

async function* piecesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw asUnavailable(error);
  }
}

const reached = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw asUnavailable(error);
  });

/** The error of the store becomes the cause, which only the log shows. */
const asUnavailable = (error: unknown): unknown =>
  error instanceof DomainError && error.reason.startsWith("object_store.") ? storeUnavailable(error) : error;

const digestMismatch = () =>
  new DomainError("unverified", "artifact.digest_mismatch", "the bytes do not have the expected SHA-256");
