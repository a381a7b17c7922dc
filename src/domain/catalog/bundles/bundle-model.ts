// The file format of a bundle: a tar with manifest.json, the signature over its bytes, and one member for each archive that the
// manifest names by digest. Any tar program lists it and openssl verifies it. bundle-read.ts decides what to trust.
import { type Static, Type } from "@sinclair/typebox";
import type { TrustedKey } from "../../../platform/crypto/file-signatures.ts";
import { DomainError } from "../../../platform/errors.ts";
import { ARCHIVE_LIMITS } from "../archive/archive.ts";
import { CATALOG_FILE_BYTES_MAX } from "../model.ts";

export const BUNDLE_FORMAT = "quartermaster-catalog-bundle";
export const BUNDLE_VERSION = 1;
export const MANIFEST_NAME = "manifest.json";
export const SIGNATURE_NAME = "manifest.json.sig";

export interface BundleLimits {
  manifestBytesMax: number;
  archivesMax: number;
  archiveBytesMax: number;
}

/** The manifest contains a whole catalog as JSON, and one item for each archive. */
export const BUNDLE_LIMITS: BundleLimits = {
  manifestBytesMax: 2 * CATALOG_FILE_BYTES_MAX,
  archivesMax: 10_000,
  archiveBytesMax: ARCHIVE_LIMITS.compressedBytesMax,
};

const Digest = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** A newer version may add members; one that changes a meaning changes `format_version`. */
export const BundleManifest = Type.Object({
  format: Type.Literal(BUNDLE_FORMAT),
  format_version: Type.Literal(BUNDLE_VERSION),
  exported_at: Type.String({ maxLength: 64, description: "RFC 3339" }),
  /** id of the signing key */
  signer: Digest,
  archives: Type.Array(Type.Object({ sha256: Digest, size_bytes: Type.Integer({ minimum: 1 }) })),
  package_catalog: Type.Object({ packages: Type.Unknown() }),
});
export type BundleManifest = Static<typeof BundleManifest>;

export const archiveName = (sha256: string): string => `archives/${sha256}.tar.gz`;

/** A bundle on disk, which is read several times. */
export interface BundleFile {
  /** the name of the file, for errors */
  name: string;
  sizeBytes: number;
  /** @returns all bytes, or `length` bytes from `offset` */
  read(range?: { offset: number; length: number }): AsyncIterable<Uint8Array>;
}

/** The trusted keys, and the operator's name for them. */
export interface TrustedSigners {
  name: string;
  keys: readonly TrustedKey[];
}

/** @returns the error for a bundle; its reason is `bundle.<what>` */
export const bundleRefusal = (what: string, message: string, hint?: string): DomainError =>
  new DomainError("unverified", `bundle.${what}`, message, hint === undefined ? {} : { hint });
