// Limits of a published archive, and the errors of its rules. Workstation clients refuse an archive above these limits. The
// other files of this folder check the rules.
import { DomainError } from "../../../platform/errors.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

export interface ArchiveLimits {
  compressedBytesMax: number;
  entriesMax: number;
  /** size of the whole tar stream: file bodies, headers and padding */
  expandedBytesMax: number;
  fileBytesMax: number;
  pathComponentsMax: number;
  pathBytesMax: number;
  /** size of one long name or PAX record block */
  metadataRecordBytesMax: number;
  metadataTotalBytesMax: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  compressedBytesMax: 100 * MIB,
  entriesMax: 10_000,
  expandedBytesMax: 512 * MIB,
  fileBytesMax: 128 * MIB,
  pathComponentsMax: 32,
  pathBytesMax: 4_096,
  metadataRecordBytesMax: 64 * KIB,
  metadataTotalBytesMax: 8 * MIB,
};

/** Maximum characters of a name in a message. */
export const QUOTED_LENGTH_MAX = 80;

/** @returns the error for one broken rule; its reason is `archive.<what>` */
export const refusal = (what: string, message: string, hint?: string): DomainError =>
  new DomainError("unverified", `archive.${what}`, message, hint === undefined ? {} : { hint });

/** @returns a name from the archive in a form that is safe to print: quoted, shortened, without invisible characters */
export function quoted(name: string | Uint8Array): string {
  const text = typeof name === "string" ? name : new TextDecoder().decode(name);
  const short = text.length > QUOTED_LENGTH_MAX ? `${text.slice(0, QUOTED_LENGTH_MAX)}…` : text;
  return JSON.stringify(short).replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
