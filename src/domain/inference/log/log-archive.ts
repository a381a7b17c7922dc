// Files of the request log in the object store, below `request-logs/`, in the bucket of captured sessions, whose sweep ignores
// such keys.
import { DomainError } from "../../../platform/errors.ts";
import type { Bucket } from "../../../platform/object-store/bucket.ts";
import { failureIn } from "../../../platform/object-store/failures.ts";

export interface LogArchiveOptions {
  bucket: Pick<Bucket, "check" | "head" | "read" | "put" | "remove">;
  /** name of the bucket */
  name: string;
  /** prefix of every key; empty, or ending with a slash */
  prefix: string;
}

/** The bytes of a file; a second call produces the same bytes unless rows were removed in between. */
export type Content = () => AsyncIterable<Uint8Array>;

interface Measured {
  sizeBytes: number;
  /** 64 lower-case hexadecimal digits */
  sha256: string;
}

/** Every method throws DomainError `object_store.*` with the store's response. */
export class LogArchive {
  readonly #folder: string;

  constructor(private readonly options: LogArchiveOptions) {
    this.#folder = `${options.prefix}request-logs`;
  }

  /** @returns the URL of the folder, without a trailing slash */
  get url(): string {
    return `s3://${this.options.name}/${this.#folder}`;
  }

  /** Succeeds if the bucket exists and may be used. */
  check(): Promise<void> {
    return explained(this.options.bucket.check());
  }

  async has(name: string): Promise<boolean> {
    return (await explained(this.options.bucket.head(this.#keyOf(name)))) !== undefined;
  }

  /**
   * Stores a file, or replaces it. Produces the bytes twice, first for their length and digest and then to send them, so that
   * they need neither memory nor disk.
   * @throws DomainError also `request_log.changed` if the second bytes differ; `object_store.damaged` if the store has others
   */
  async put(
    name: string,
    content: Content,
    { contentType, signal }: { contentType: string; signal: AbortSignal },
  ): Promise<void> {
    const key = this.#keyOf(name);
    const expected = await measure(content());
    const upload = { key, ...expected, contentType };
    await explained(this.options.bucket.put(upload, unchanged(content(), expected), { signal }));
    if (await explained(this.#isKept(key, expected, signal))) return;
    await explained(this.options.bucket.remove(key));
    throw damaged(name);
  }

  /** Reads the object if the store has no digest. */
  async #isKept(key: string, { sizeBytes, sha256 }: Measured, signal: AbortSignal): Promise<boolean> {
    const found = await this.options.bucket.head(key);
    if (found?.sizeBytes !== sizeBytes) return false;
    if (found.sha256 !== undefined) return found.sha256 === sha256;
    const bytes = await this.options.bucket.read(key, { signal, sizeBytes });
    return bytes !== undefined && (await measure(bytes)).sha256 === sha256;
  }

  #keyOf(name: string): string {
    return `${this.#folder}/${name}`;
  }
}

/** @throws DomainError `request_log.changed` before a piece that differs from the expected bytes */
async function* unchanged(bytes: AsyncIterable<Uint8Array>, expected: Measured): AsyncGenerator<Uint8Array> {
  const hasher = new Bun.CryptoHasher("sha256");
  let sentBytes = 0;
  for await (const piece of bytes) {
    sentBytes += piece.length;
    hasher.update(piece);
    if (sentBytes > expected.sizeBytes) throw changed();
    if (sentBytes === expected.sizeBytes && hasher.copy().digest("hex") !== expected.sha256) throw changed();
    yield piece;
  }
  if (sentBytes < expected.sizeBytes) throw changed();
}

async function measure(bytes: AsyncIterable<Uint8Array>): Promise<Measured> {
  const hasher = new Bun.CryptoHasher("sha256");
  let sizeBytes = 0;
  for await (const piece of bytes) {
    hasher.update(piece);
    sizeBytes += piece.length;
  }
  return { sizeBytes, sha256: hasher.digest("hex") };
}

/** The error shows the store's response, because only operators call this. It contains no URL, bucket or key id. */
const explained = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    const failure = failureIn(error);
    if (!failure || !(error instanceof DomainError)) throw error;
    throw new DomainError(error.kind, error.reason, `${error.message}: ${failure.message}`, {
      hint: "find the cause with `quartermaster doctor`, then repeat the export, which continues",
      cause: error,
    });
  });

const changed = (): DomainError =>
  new DomainError("conflict", "request_log.changed", "rows of the day were removed while they were sent", {
    hint: "repeat the export, which continues",
  });

const damaged = (name: string): DomainError =>
  new DomainError(
    "unverified",
    "object_store.damaged",
    `the object store did not keep the bytes of ${name}`,
    {
      hint: "check the store with `quartermaster doctor`, then repeat the export",
    },
  );
