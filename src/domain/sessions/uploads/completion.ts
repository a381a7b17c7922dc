// Completes an upload: the store or this service verifies that the bytes match the announcement, and one transaction makes them the
// session's current version. If two callers complete it at the same time, one does the work and both get the same response.
import pLimit from "p-limit";
import { parseDigest } from "../../../platform/blobs/blobs.ts";
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
import { mayManage } from "../visibility.ts";
import type { UploadTally } from "./tally.ts";
import * as store from "./upload-store.ts";

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "settings" | "stores" | "blobs"> & {
  tally: UploadTally;
};

export class Completion {
  readonly #hashing = pLimit(HASHED_AT_ONCE_MAX);

  constructor(private readonly dependencies: Dependencies) {}

  /**
   * Most uploads to the local store need only one transaction, because the file system reports the size without waiting.
   * @returns the id of the upload
   * @throws DomainError `sessions.upload_not_found`, `sessions.not_owner`, `sessions.window_over`, `sessions.not_uploaded`,
   * `sessions.content_differs`, `sessions.store_unavailable`
   */
  async complete(actor: Actor, viewer: Viewer, uploadId: string): Promise<string> {
    const settle = async (proved?: ArtifactRow) => {
      const work = (tx: Tx) => this.#settle(tx, { actor, viewer, uploadId, proved });
      const outcome = await this.dependencies.db.write(work, "unobserved");
      if (outcome.state === "completed") this.dependencies.tally.add("complete", outcome.upload.sizeBytes);
      return outcome;
    };
    const first = await settle();
    if (first.state !== "unproved") return first.upload.id;
    await this.#prove(first.upload);
    const second = await settle(first.upload);
    if (second.state === "unproved") throw bytesNotUploaded(); // announced again with another size
    return second.upload.id;
  }

  /** @throws unless the store holds the announced bytes and this uploader has sent them */
  async #prove(artifact: ArtifactRow): Promise<void> {
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

  /** @param wanted `proved`: the upload as it was when `#prove` verified its bytes */
  #settle(
    tx: Tx,
    wanted: { actor: Actor; viewer: Viewer; uploadId: string; proved: ArtifactRow | undefined },
  ): { state: "completed" | "known" | "unproved"; upload: ArtifactRow } {
    const { actor, viewer, uploadId, proved } = wanted;
    const upload = store.findUpload(tx, { organizationId: viewer.organizationId, id: uploadId });
    if (!upload) throw uploadNotFound();
    if (!mayManage(upload, viewer)) throw notOwnUpload();
    if (isComplete(upload)) return { state: "known", upload };
    const nowMs = this.dependencies.clock.nowMs();
    if (nowMs >= upload.windowEndsAtMs) throw windowOver();
    if (upload.status === "failed") throw contentDiffers();
    // Owners of equal bytes share a file, so an existing file does not prove that this owner has the bytes.
    if (upload.store === "local" && upload.storedAtMs === null) throw bytesNotUploaded();
    const provedBytes = proved?.sizeBytes ?? this.#localSizeOf(upload);
    if (provedBytes !== upload.sizeBytes) return { state: "unproved", upload };
    this.#complete(tx, { actor, upload, nowMs });
    return { state: "completed", upload };
  }

  #localSizeOf({ store: kind, place }: ArtifactRow): number | undefined {
    return kind === "local" ? this.dependencies.blobs.size(parseDigest(place)) : undefined;
  }

  #complete(
    tx: Tx,
    { actor, upload, nowMs }: { actor: Actor; upload: store.FoundUpload; nowMs: number },
  ): void {
    const { settings, audit } = this.dependencies;
    const { id, sessionId, sharingMode, userId: owner, sha256, sizeBytes } = upload;
    const expiresAtMs = nowMs + settings.retentionDays * DAY_MS;
    store.markComplete(tx, { id, nowMs, expiresAtMs });
    const supersededUntilMs = nowMs + settings.supersededDays * DAY_MS;
    if (upload.currentArtifactId !== null)
      store.supersedeOthers(tx, upload, { nowMs, expiresAtMs: supersededUntilMs });
    store.promote(tx, {
      ...metadataOf(upload),
      id: sessionId,
      sharingMode,
      searchText: searchTextOf(upload.nativeSessionId, upload),
      currentArtifactId: id,
      updatedAtMs: nowMs,
    });
    const after = { artifact_id: id, owner, sha256, size_bytes: sizeBytes };
    audit.record(tx, { actor, action: "captured_session.complete", target: sessionId, after });
  }
}

const isComplete = ({ status }: ArtifactRow): boolean => status === "complete" || status === "superseded";
