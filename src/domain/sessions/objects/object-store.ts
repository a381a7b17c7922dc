// The interface of a store for the bytes of captured sessions. There are two kinds: our data directory and an S3-compatible store.
// The caller handles rows and permissions, and decides what is uploaded, read and removed.
import type { DiskSpace } from "../../../platform/files/disk.ts";
import type { ArtifactRow, StoreKind } from "../model.ts";

/** The announced object of an artifact. No part of a place comes from a client. */
export type AnnouncedObject = Pick<
  ArtifactRow,
  "id" | "organizationId" | "sessionId" | "sha256" | "sizeBytes" | "contentType" | "artifactFormat"
>;

/** The same, with its place. */
type PlacedObject = AnnouncedObject & Pick<ArtifactRow, "place">;

/** A request that a client sends to upload an object. */
export interface UploadRequest {
  /** absolute, and signed */
  url: string;
  method: "PUT";
  /** the headers that the client must send in addition to the usual ones */
  headers: Readonly<Record<string, string>>;
}

export interface FoundObject {
  sizeBytes: number;
  /** SHA-256 verified by the store or by us, 64 lower-case hexadecimal digits; null if the store has no digest */
  sha256: string | null;
}

export interface ListedObject extends Pick<FoundObject, "sizeBytes"> {
  place: string;
  /** UTC milliseconds */
  modifiedAtMs: number;
}

interface Timed {
  signal?: AbortSignal | undefined;
}

/** Every method that reaches the store throws DomainError `sessions.store_unavailable` if the store fails or does not respond. */
export interface ObjectStore {
  readonly kind: StoreKind;
  /** @returns where the object of a new artifact will be */
  placeOf(announced: AnnouncedObject): string;
  /** Signs without a request to the store. @param expiresAtSeconds Unix seconds */
  uploadRequest(announced: PlacedObject, expiresAtSeconds: number): UploadRequest;
  /** Signs the URL of a plain GET. @param named `fileName` is ASCII without quotes */
  downloadUrl(stored: PlacedObject, named: { fileName: string; expiresAtSeconds: number }): string;
  /** @returns undefined if there is no such object */
  inspect(place: string, timed?: Timed): Promise<FoundObject | undefined>;
  /** Reads the object once. @returns its SHA-256; undefined if there is no such object */
  hash(place: string, timed?: Timed): Promise<string | undefined>;
  /** @returns the bytes; reading them throws if there is no such object */
  read(place: string, timed?: Timed): AsyncIterable<Uint8Array>;
  /**
   * Stores bytes of known size and digest, for moving objects between stores.
   * @throws DomainError `artifact.digest_mismatch`, `artifact.disk_full`
   */
  put(
    place: string,
    bytes: AsyncIterable<Uint8Array>,
    expected: Pick<AnnouncedObject, "sha256" | "sizeBytes" | "contentType"> & Timed,
  ): Promise<void>;
  /** @returns whether the object existed, if the store reports it */
  remove(place: string, timed?: Timed): Promise<boolean>;
  /** Lists every object of this service, unordered, without objects of other software. */
  list(timed?: Timed): AsyncIterable<ListedObject>;
  /** Checks whether the store can be used. */
  check(timed?: Timed): Promise<void>;
  /**
   * @returns whether objects without a row may be removed: only this service writes there, or the operator has claimed the store
   */
  isOurs(): Promise<boolean>;
  /** Writes the mark that claims the store. */
  claim(): Promise<void>;
  /** @returns the free space on our own disk; undefined for stores elsewhere */
  space(): DiskSpace | undefined;
}

/** The stores of an installation. */
export interface ObjectStores {
  /** the store of new uploads */
  readonly active: ObjectStore;
  /** the configured ones */
  readonly all: readonly ObjectStore[];
  /** @throws DomainError `sessions.store_unset` for a kind that rows still name but that is not configured */
  of(kind: StoreKind): ObjectStore;
}
