// Completes an upload: the store or this service verifies that the bytes match the announcement, and one transaction makes them
// the session's current version. If two callers complete it at once, one of them does the work and both get the same response.
import pLimit from "p-limit";
import { DAY_MS } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import {
  bytesNotUploaded,
  contentDiffers,
  notOwnUpload,
  storeUnavailable,
  uploadNotFound,
  windowOver,
} from "../errors.ts";
import { FAILED_KEPT_MS, HASH_TIME_MS, HASHED_AT_ONCE_MAX } from "../limits.ts";
import { type ArtifactRow, metadataOf, searchTextOf, type Viewer } from "../model.ts";
import type { FoundObject } from "../objects/object-store.ts";
import { findArtifact } from "../store.ts";
import { mayManage } from "../visibility.ts";
import type { UploadTally } from "./tally.ts";
import * as store from "./upload-store.ts";

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "settings" | "stores"> & {
  tally: UploadTally;
};

export class Completion {
  readonly #hashing = pLimit(HASHED_AT_ONCE_MAX);

  constructor(private readonly dependencies: Dependencies) {}

  /**
   * @returns the id of the upload
   * @throws DomainError `sessions.upload_not_found`, `sessions.not_owner`, `sessions.window_over`, `sessions.not_uploaded`,
   *   `sessions.content_differs`, `sessions.store_unavailable`
   */
  async complete(actor: Actor, viewer: Viewer, uploadId: string): Promise<string> {
    const { organizationId } = viewer;
    const artifact = findArtifact(this.dependencies.db.read, { organizationId, id: uploadId });
    if (!artifact) throw uploadNotFound();
    if (!mayManage(artifact, viewer)) throw notOwnUpload();
    if (isComplete(artifact)) return artifact.id;
    if (this.dependencies.clock.nowMs() >= artifact.windowEndsAtMs) throw windowOver();
    await this.#prove(artifact);
    const isNew = await this.dependencies.db.write(
      (tx) => this.#complete(tx, actor, artifact.id),
      "unobserved",
    );
    if (isNew) this.dependencies.tally.add("complete", artifact.sizeBytes);
    return artifact.id;
  }

  /** @throws unless the store holds the announced bytes and this uploader has sent them */
  async #prove(artifact: ArtifactRow): Promise<void> {
    if (artifact.status === "failed") throw contentDiffers();
    // Owners of equal bytes share a file, so an existing file does not prove that this owner has the bytes.
    if (artifact.store === "local" && artifact.storedAtMs === null) throw bytesNotUploaded();
    const objects = this.dependencies.stores.of(artifact.store);
    const found = await objects.inspect(artifact.place);
    if (!found) throw bytesNotUploaded();
    const sha256 = found.sizeBytes === artifact.sizeBytes ? await this.#digestOf(artifact, found) : undefined;
    if (sha256 === artifact.sha256) return;
    if (artifact.store === "s3") await objects.remove(artifact.place);
    await this.#fail(artifact);
    throw contentDiffers();
  }

  /** Reads the object if the store has no digest of it. */
  async #digestOf({ store: kind, place }: ArtifactRow, { sha256 }: FoundObject): Promise<string | undefined> {
    if (sha256 !== null) return sha256;
    const signal = AbortSignal.timeout(HASH_TIME_MS);
    try {
      return await this.#hashing(() => this.dependencies.stores.of(kind).hash(place, { signal }));
    } catch (error) {
      throw signal.aborted ? storeUnavailable(error) : error;
    }
  }

  async #fail({ id, sizeBytes }: ArtifactRow): Promise<void> {
    this.dependencies.tally.add("content_differs", sizeBytes);
    const nowMs = this.dependencies.clock.nowMs();
    await this.dependencies.db.write((tx) => {
      store.clearVerification(tx, id);
      store.markFailed(tx, { id, nowMs, keptMs: FAILED_KEPT_MS, reason: "content_differs" });
    }, "unobserved");
  }

  /** Checks the state again, because another caller or retention may have changed it. @returns false if it is complete already */
  #complete(tx: Tx, actor: Actor, uploadId: string): boolean {
    const { clock, settings, audit } = this.dependencies;
    const artifact = store.findUpload(tx, uploadId);
    if (!artifact) throw uploadNotFound();
    if (isComplete(artifact)) return false;
    const nowMs = clock.nowMs();
    if (nowMs >= artifact.windowEndsAtMs) throw windowOver();
    const { id, sessionId, sharingMode, userId: owner, sha256, sizeBytes } = artifact;
    const expiresAtMs = nowMs + settings.retentionDays * DAY_MS;
    if (!store.markComplete(tx, { id, nowMs, expiresAtMs })) throw bytesNotUploaded();
    const supersededUntilMs = nowMs + settings.supersededDays * DAY_MS;
    if (artifact.currentArtifactId !== null)
      store.supersedeOthers(tx, artifact, { nowMs, expiresAtMs: supersededUntilMs });
    store.promote(tx, {
      ...metadataOf(artifact),
      id: sessionId,
      sharingMode,
      searchText: searchTextOf(artifact.nativeSessionId, artifact),
      currentArtifactId: id,
      updatedAtMs: nowMs,
    });
    const after = { artifact_id: id, owner, sha256, size_bytes: sizeBytes };
    audit.record(tx, { actor, action: "captured_session.complete", target: sessionId, after });
    return true;
  }
}

const isComplete = ({ status }: ArtifactRow): boolean => status === "complete" || status === "superseded";
