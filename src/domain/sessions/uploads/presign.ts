// Announces an upload: checks policy and limits, stores the metadata with a pending artifact, and signs the request that uploads
// the bytes. Readers see no change yet.
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { captureOff, harnessNotAllowed, tooManyPending } from "../errors.ts";
import {
  PENDING_BYTES_PER_USER_MAX,
  PENDING_KEPT_MS,
  PENDING_PER_USER_MAX,
  UPLOAD_WINDOW_MS,
} from "../limits.ts";
import { type ArtifactRow, type SessionRow, searchTextOf } from "../model.ts";
import { markLost } from "../objects/lost.ts";
import type { UploadRequest } from "../objects/object-store.ts";
import { requireFreeSpace } from "./free-space.ts";
import { type Announcement, readAnnouncement, type SessionUploadPresignRequest } from "./presign-request.ts";
import * as store from "./upload-store.ts";

/** The user who uploads. */
export interface Uploader {
  /** Called only when needed, because it takes a lookup. */
  actor(): Actor;
  userId: string;
  organizationId: string;
}

export interface Presigned {
  uploadId: string;
  /** undefined if the session already has these bytes */
  upload: UploadRequest | undefined;
}

type Dependencies = Pick<
  SessionsDependencies,
  "db" | "clock" | "ids" | "audit" | "governance" | "harnesses" | "settings" | "stores"
>;

export class Announcements {
  constructor(private readonly dependencies: Dependencies) {}

  /**
   * @throws DomainError `sessions.invalid`, `sessions.capture_off`, `sessions.harness_not_allowed`, `sessions.too_many_pending`,
   *   `sessions.disk_low`, `sessions.quota_reached`, `sessions.store_unavailable`
   */
  async presign(uploader: Uploader, request: SessionUploadPresignRequest): Promise<Presigned> {
    const announcement = readAnnouncement(request, this.dependencies.harnesses());
    this.#requirePolicy(uploader.organizationId, announcement.harness);
    const outcome = await this.#stored(uploader, announcement);
    if (outcome.status === "complete") return { uploadId: outcome.id, upload: undefined };
    const expires =
      Math.floor(this.dependencies.clock.nowMs() / SECOND_MS) + this.dependencies.settings.urlTtlSeconds;
    return {
      uploadId: outcome.id,
      upload: this.dependencies.stores.of(outcome.store).uploadRequest(outcome, expires),
    };
  }

  #requirePolicy(organizationId: string, harness: string): void {
    const { document } = this.dependencies.governance.revisions.inForce(organizationId);
    if (document.session_upload === undefined) throw captureOff();
    if (!document.allowed_harnesses.some((allowed) => allowed === harness)) throw harnessNotAllowed(harness);
  }

  /** @returns the complete artifact with these bytes if its object exists, else a pending one */
  async #stored(uploader: Uploader, announcement: Announcement): Promise<ArtifactRow> {
    const announce = () =>
      this.dependencies.db.write((tx) => this.#announce(tx, uploader, announcement), "unobserved");
    const found = await announce();
    if (found.status !== "complete") return found;
    const object = await this.dependencies.stores.of(found.store).inspect(found.place);
    if (object?.sizeBytes === found.sizeBytes) return found;
    await markLost(this.dependencies, uploader.actor(), found);
    return await announce();
  }

  #validCopy(artifacts: readonly ArtifactRow[]): ArtifactRow | undefined {
    const nowMs = this.dependencies.clock.nowMs();
    return artifacts.find(
      ({ status, lostAtMs, expiresAtMs }) =>
        status === "complete" && lostAtMs === null && nowMs < expiresAtMs,
    );
  }

  #announce(tx: Tx, uploader: Uploader, announcement: Announcement): ArtifactRow {
    const found = store.findNative(tx, { userId: uploader.userId, ...announcement });
    const artifacts = found ? store.artifactsWith(tx, keyOf(found, announcement)) : [];
    const complete = this.#validCopy(artifacts);
    if (complete) return complete;
    const known = artifacts.find(({ status }) => status === "pending" || status === "failed");
    const isSameSize = known?.sizeBytes === announcement.sizeBytes;
    // Checked before a row is added, because a full disk cannot take one.
    this.#requireLimits(tx, { userId: uploader.userId, announcement, known });
    const session = found ?? this.#addSession(tx, uploader, announcement);
    const row = this.#rowOf(session, announcement, known);
    // Bytes that were verified under a different announced size do not count for this announcement.
    if (known) store.announceAgain(tx, { ...row, storedAtMs: isSameSize ? known.storedAtMs : null });
    else store.addArtifact(tx, row);
    return row;
  }

  #requireLimits(
    tx: Tx,
    wanted: { userId: string; announcement: Announcement; known: ArtifactRow | undefined },
  ): void {
    const { sizeBytes } = wanted.announcement;
    const known = wanted.known?.status === "pending" ? wanted.known : undefined;
    const pending = store.pendingOf(tx, wanted.userId);
    const uploads = pending.uploads + (known ? 0 : 1);
    const bytes = pending.bytes + sizeBytes - (known?.sizeBytes ?? 0);
    if (uploads > PENDING_PER_USER_MAX || bytes > PENDING_BYTES_PER_USER_MAX) throw tooManyPending();
    const { settings, stores } = this.dependencies;
    const more = sizeBytes - (known?.sizeBytes ?? 0);
    requireFreeSpace(tx, { sizeBytes: more, store: stores.active, totalBytesMax: settings.totalBytesMax });
  }

  #addSession(tx: Tx, { userId, organizationId }: Uploader, announcement: Announcement): SessionRow {
    const { harness, profile, nativeSessionId, metadata } = announcement;
    const nowMs = this.dependencies.clock.nowMs();
    const row: SessionRow = {
      id: this.dependencies.ids.uuid(),
      organizationId,
      userId,
      harness,
      profile,
      nativeSessionId,
      ...metadata,
      sharingMode: "private",
      searchText: searchTextOf(nativeSessionId, metadata),
      searchNumber: null,
      oldVersions: 0,
      currentArtifactId: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      heldAtMs: null,
      goneAtMs: null,
    };
    store.addSession(tx, row);
    return row;
  }

  /** @param known keeps its id and its place */
  #rowOf(session: SessionRow, announcement: Announcement, known: ArtifactRow | undefined): ArtifactRow {
    const { clock, ids, stores } = this.dependencies;
    const { sha256, sizeBytes, contentType, metadata } = announcement;
    const nowMs = clock.nowMs();
    const announced = {
      id: known?.id ?? ids.uuid(),
      sessionId: session.id,
      sha256,
      sizeBytes,
      contentType,
      ...metadata,
      organizationId: session.organizationId,
      userId: session.userId,
    };
    return {
      ...announced,
      status: "pending",
      store: known?.store ?? stores.active.kind,
      place: known?.place ?? stores.active.placeOf(announced),
      createdAtMs: known?.createdAtMs ?? nowMs,
      windowEndsAtMs: nowMs + UPLOAD_WINDOW_MS,
      storedAtMs: known?.storedAtMs ?? null,
      completedAtMs: null,
      supersededAtMs: null,
      failedAtMs: null,
      failureReason: null,
      lostAtMs: null,
      expiresAtMs: nowMs + UPLOAD_WINDOW_MS + PENDING_KEPT_MS,
    };
  }
}

const keyOf = ({ id: sessionId }: SessionRow, { sha256 }: Announcement) => ({ sessionId, sha256 });
