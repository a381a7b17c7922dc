// Receives the bytes of an upload into the local store: checks the signed URL, hashes the bytes while writing them, and records
// that they are verified. The caller reads the body and enforces its time limits.
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import {
  alreadyComplete,
  digestMismatch,
  diskFull,
  linkRefused,
  uploadNotFound,
  uploadsBusy,
} from "../errors.ts";
import { FAILED_KEPT_MS } from "../limits.ts";
import type { ArtifactRow } from "../model.ts";
import { markFoundAt } from "../objects/lost.ts";
import { markPlaces } from "../objects/removal-store.ts";
import { findLinked } from "../store.ts";
import { requireLastBytes } from "./free-space.ts";
import type { UploadTally } from "./tally.ts";
import * as store from "./upload-store.ts";

/** The parameters of a signed URL. */
export interface AddressParameters {
  id: string;
  /** Unix seconds */
  expires: number;
  signature: string;
}

type Dependencies = Pick<
  SessionsDependencies,
  "db" | "clock" | "audit" | "settings" | "blobs" | "links" | "stores"
> & {
  tally: UploadTally;
};

export class Receiving {
  #running = 0;
  /** total announced bytes of the bodies that are being read */
  #runningBytes = 0;

  constructor(private readonly dependencies: Dependencies) {}

  /** number of bodies that are being read */
  get running(): number {
    return this.#running;
  }

  /**
   * @returns the announced artifact
   * @throws DomainError `sessions.upload_not_found`, `sessions.link_refused`
   */
  admit({ id, expires, signature }: AddressParameters): ArtifactRow {
    const artifact = findLinked(this.dependencies.db.read, id);
    if (artifact?.store !== "local") throw uploadNotFound();
    const isOver = this.dependencies.clock.nowMs() >= expires * SECOND_MS;
    if (isOver || !this.dependencies.links.isSigned({ method: "PUT", object: artifact, expires }, signature))
      throw linkRefused();
    return artifact;
  }

  /**
   * Stores the bytes durably and records that, or leaves nothing behind.
   * @param body of exactly the announced size, or it throws; the caller must not use its pieces afterwards
   * @throws DomainError `sessions.busy`, `sessions.digest_mismatch`, `sessions.already_complete`, `artifact.disk_full`,
   * `sessions.upload_not_found`; errors of the body
   */
  async receive(artifact: ArtifactRow, body: AsyncIterable<Uint8Array>): Promise<void> {
    if (this.#running >= this.dependencies.settings.uploadsAtOnce) throw uploadsBusy();
    requireLastBytes(this.dependencies.stores.of("local"), this.#runningBytes + artifact.sizeBytes);
    this.#running += 1;
    this.#runningBytes += artifact.sizeBytes;
    try {
      await this.#store(artifact, body);
    } finally {
      this.#running -= 1;
      this.#runningBytes -= artifact.sizeBytes;
    }
  }

  async #store(artifact: ArtifactRow, body: AsyncIterable<Uint8Array>): Promise<void> {
    const { blobs, clock, db } = this.dependencies;
    const expectedDigest = parseDigest(artifact.sha256);
    try {
      await blobs.put(body, {
        expectedDigest,
        maxBytes: artifact.sizeBytes,
        replaces: true,
        givesAway: true,
      });
    } catch (error) {
      const reason = error instanceof DomainError ? error.reason : undefined;
      if (reason === "artifact.disk_full") throw diskFull(error);
      if (reason !== "artifact.digest_mismatch") throw error;
      await this.#refuse(artifact);
    }
    const isKnown = await db.write((tx) => {
      markFoundAt(tx, this.dependencies, artifact.place);
      if (store.markStored(tx, { id: artifact.id, nowMs: clock.nowMs() })) return true;
      const isThere = findLinked(tx, artifact.id) !== undefined;
      if (!isThere) markPlaces(tx, [artifact], clock.nowMs());
      return isThere;
    }, "unobserved");
    if (!isKnown) throw uploadNotFound();
  }

  async #refuse({ id, sizeBytes }: ArtifactRow): Promise<never> {
    const { clock, db } = this.dependencies;
    const nowMs = clock.nowMs();
    const status = await db.write((tx) => {
      store.markFailed(tx, { id, nowMs, keptMs: FAILED_KEPT_MS, reason: "digest_mismatch" });
      return findLinked(tx, id)?.status;
    }, "unobserved");
    if (status === "complete" || status === "superseded") throw alreadyComplete();
    this.dependencies.tally.add("digest_mismatch", sizeBytes);
    throw digestMismatch();
  }
}
