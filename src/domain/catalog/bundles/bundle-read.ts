// Reads a bundle once, and trusts only what a trusted key has signed. Checks the signature, then the manifest, then that the members
// are exactly those of the manifest, byte for byte, including headers and padding. Keeps only the positions of the archives.
import { Value } from "@sinclair/typebox/value";
import { SIGNATURE_BYTES } from "../../../platform/crypto/file-signatures.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { ByteSource } from "../../../platform/files/byte-source.ts";
import { isZeros, TAR_BLOCK_BYTES, tarHeader, tarPaddingLength } from "../../../platform/files/tar.ts";
import { findViolation, type JsonLimits } from "../../../platform/json/structure.ts";
import { truncated } from "../archive/bytes.ts";
import type { ReportProgress } from "../archive/local-archives.ts";
import { readHeader } from "../archive/tar.ts";
import {
  archiveName,
  BUNDLE_LIMITS,
  BUNDLE_VERSION,
  type BundleFile,
  type BundleLimits,
  BundleManifest,
  bundleRefusal,
  MANIFEST_NAME,
  SIGNATURE_NAME,
  type TrustedSigners,
} from "./bundle-model.ts";

/** The position of an archive in the bundle; its bytes have the digest. */
export interface BundledArchive {
  sha256: string;
  offset: number;
  length: number;
}

export interface ReadBundle {
  manifest: BundleManifest;
  /** id of the key that verified the signature, which may differ from the id in the bundle */
  signer: string;
  /** by digest */
  archives: Map<string, BundledArchive>;
}

export interface ReadBundleOptions {
  trusted: TrustedSigners;
  limits?: Partial<BundleLimits>;
  onProgress?: ReportProgress | undefined;
  signal?: AbortSignal | undefined;
}

const PIECE_BYTES = 65_536;

/**
 * @throws DomainError of kind `unverified` with a reason `bundle.<what>`; the signal's reason
 * @source AIR-4
 */
export async function readBundle(file: BundleFile, options: ReadBundleOptions): Promise<ReadBundle> {
  const reader = new BundleReader(file, options);
  try {
    return await reader.read();
  } catch (error) {
    throw inBundle(error, file.name);
  } finally {
    await reader.close();
  }
}

/** The archive reader also reads the tar headers of bundles; its errors then concern the bundle. */
function inBundle(error: unknown, name: string): unknown {
  if (!(error instanceof DomainError) || !error.reason.startsWith("archive.")) return error;
  const what = error.reason.slice("archive.".length);
  return bundleRefusal(
    what,
    `${name} is not a complete bundle: ${error.message}`,
    "name the file that catalog export --bundle wrote; if it is the right file, copy it again",
  );
}

class BundleReader {
  readonly #source: ByteSource;
  readonly #limits: BundleLimits;
  #offset = 0;

  constructor(
    private readonly file: BundleFile,
    private readonly options: ReadBundleOptions,
  ) {
    this.#source = new ByteSource(file.read(), truncated);
    this.#limits = { ...BUNDLE_LIMITS, ...options.limits };
  }

  async read(): Promise<ReadBundle> {
    const { manifest, signer } = await this.#manifest();
    this.#refuseTooMuch(manifest);
    const archives = new Map<string, BundledArchive>();
    for (const { sha256, size_bytes: length } of manifest.archives) {
      await this.#member(archiveName(sha256), { exactly: length });
      archives.set(sha256, { sha256, offset: this.#offset, length });
      if ((await this.#digest(length)) !== sha256) throw this.#tampered(archiveName(sha256));
    }
    await this.#end();
    return { manifest, signer, archives };
  }

  close(): Promise<void> {
    return this.#source.close();
  }

  /** The signature is checked before anything that it covers. */
  async #manifest(): Promise<Pick<ReadBundle, "manifest" | "signer">> {
    const bytes = await this.#body(
      await this.#member(MANIFEST_NAME, { most: this.#limits.manifestBytesMax }),
    );
    const signature = await this.#body(await this.#member(SIGNATURE_NAME, { exactly: SIGNATURE_BYTES }));
    const key = this.options.trusted.keys.find(({ isSigned }) => isSigned(bytes, signature));
    if (!key) throw this.#untrusted(bytes);
    const manifest = jsonOf(bytes);
    if (Value.Check(BundleManifest, manifest)) return { manifest, signer: key.keyId };
    throw this.#invalidManifest(manifest);
  }

  #untrusted(manifest: Uint8Array): DomainError {
    const { keys, name: trust } = this.options.trusted;
    const claimed: unknown = Object(unsignedJsonOf(manifest)).signer;
    if (keys.some(({ keyId }) => keyId === claimed)) return this.#tampered(MANIFEST_NAME);
    const signer = typeof claimed === "string" && /^[0-9a-f]{64}$/.test(claimed) ? ` (${claimed})` : "";
    return bundleRefusal(
      "untrusted",
      `${this.file.name} is signed by a key${signer} that is not in ${trust}`,
      "ask the signer to share the key over a different channel than the bundle; `quartermaster catalog bundle-key` prints it there",
    );
  }

  #invalidManifest(manifest: unknown): DomainError {
    const version: unknown = Object(manifest).format_version;
    if (typeof version === "number" && version > BUNDLE_VERSION)
      return bundleRefusal(
        "newer",
        `${this.file.name} is of format ${version}; this program reads ${BUNDLE_VERSION}`,
        "update Quartermaster here, or export with the version that runs here",
      );
    const problems: Problem[] = [...Value.Errors(BundleManifest, manifest)]
      .slice(0, PROBLEMS_MAX)
      .map(({ path, message }) => ({ pointer: path, detail: message }));
    return new DomainError("unverified", "bundle.manifest", `the manifest of ${this.file.name} is wrong`, {
      problems,
    });
  }

  #refuseTooMuch({ archives }: BundleManifest): void {
    const { archivesMax, archiveBytesMax } = this.#limits;
    if (archives.length > archivesMax)
      throw bundleRefusal(
        "too_many",
        `the bundle holds ${archives.length} archives; at most ${archivesMax} are read`,
      );
    for (const { sha256, size_bytes: size } of archives) {
      if (size > archiveBytesMax)
        throw bundleRefusal(
          "too_large",
          `${archiveName(sha256)} has ${size} bytes; at most ${archiveBytesMax} are allowed`,
        );
    }
  }

  /** The order and the names of members are fixed, so no path in the bundle is ever followed. @returns the size of the member */
  async #member(name: string, bounds: { exactly: number } | { most: number }): Promise<number> {
    this.options.signal?.throwIfAborted();
    const block = await this.#take(TAR_BLOCK_BYTES);
    const header = readHeader(block);
    const found = Buffer.from(header.path).toString();
    if (header.type !== "0" || found !== name)
      throw bundleRefusal(
        "unexpected",
        `${this.file.name} holds ${JSON.stringify(found)} instead of ${name}`,
      );
    const isRight =
      "exactly" in bounds ? header.sizeBytes === bounds.exactly : header.sizeBytes <= bounds.most;
    if (!isRight) {
      throw bundleRefusal(
        "wrong_size",
        `${name} in ${this.file.name} has ${header.sizeBytes} bytes, which is not its size`,
      );
    }
    // The signature does not cover headers, so each must be the one that the exporting side writes.
    if (!tarHeader({ name, sizeBytes: header.sizeBytes }).every((byte, at) => byte === block[at]))
      throw this.#tampered(`the header of ${name}`);
    return header.sizeBytes;
  }

  async #body(length: number): Promise<Uint8Array> {
    const bytes = await this.#take(length);
    await this.#padding(length);
    return bytes;
  }

  async #digest(length: number): Promise<string> {
    const { onProgress, signal } = this.options;
    const hasher = new Bun.CryptoHasher("sha256");
    for (let left = length; left > 0; ) {
      signal?.throwIfAborted();
      const piece = await this.#take(Math.min(left, PIECE_BYTES));
      hasher.update(piece);
      left -= piece.byteLength;
      onProgress?.({ name: this.file.name, bytes: piece.byteLength });
    }
    await this.#padding(length);
    return hasher.digest("hex");
  }

  /** Skips the zeros that fill the last block of a member. */
  async #padding(length: number): Promise<void> {
    if (!isZeros(await this.#take(tarPaddingLength(length)))) throw this.#tampered("the padding of a member");
  }

  async #end(): Promise<void> {
    const zeros = await this.#take(2 * TAR_BLOCK_BYTES);
    const more = await this.#source.some(1);
    if (isZeros(zeros) && more.byteLength === 0) return;
    throw bundleRefusal("unexpected", `${this.file.name} holds more than its manifest names`);
  }

  async #take(length: number): Promise<Uint8Array> {
    const bytes = await this.#source.take(length);
    this.#offset += length;
    return bytes;
  }

  #tampered(member: string): DomainError {
    return bundleRefusal(
      "tampered",
      `${member} in ${this.file.name} differs from what was signed`,
      "copy the bundle again; if the error persists, the bundle was modified",
    );
  }
}

const PROBLEMS_MAX = 10;

/** Limits for an unsigned manifest. Exported manifests stay far below them. */
const MANIFEST_JSON: JsonLimits = { depthMax: 64, valuesMax: 1_000_000 };

/** @returns the value of unsigned JSON; undefined if it is malformed, or would take far more memory than its text */
const unsignedJsonOf = (bytes: Uint8Array): unknown =>
  findViolation(Buffer.from(bytes).toString(), MANIFEST_JSON) ? undefined : jsonOf(bytes);

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
