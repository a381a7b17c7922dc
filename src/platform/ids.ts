// Identifiers and randomness as dependencies: services receive an Ids, so that tests can make them predictable.
import { hash, randomBytes } from "node:crypto";

/** Creates identifiers and secrets. */
export interface Ids {
  /** @returns a UUIDv7, so that rows sort by creation */
  uuid(): string;
  /** @returns `length` random bytes from the operating system */
  bytes(length: number): Uint8Array;
}

/** The operating system's random source. */
export const systemIds: Ids = {
  uuid: () => Bun.randomUUIDv7(),
  bytes: (length) => randomBytes(length),
};

/** @returns a URL-safe secret of `byteLength` random bytes, without padding */
export const randomToken = (ids: Ids, byteLength = 32): string =>
  Buffer.from(ids.bytes(byteLength)).toString("base64url");

/** @returns a random number from 0 up to, but not including, 1 */
export const randomFraction = (ids: Ids): number => Buffer.from(ids.bytes(4)).readUInt32BE() / 2 ** 32;

/** @returns the lower-case hexadecimal SHA-256 under which a high-entropy credential is stored */
export const sha256Hex = (text: string | Uint8Array): string => hash("sha256", text, "hex");

/** A UUID in any letter case (RFC 9562 section 4). */
export const UUID_PATTERN = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** @returns whether the text may be an id of this service: ids are written in lower case and compared exactly */
export const isOwnId = (text: string): boolean => UUID_PATTERN.test(text) && text === text.toLowerCase();
