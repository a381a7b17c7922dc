// Offers the current version of a session to users who may see it, at a short-lived URL. Also opens such URLs of the local store.
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { bytesMoved, bytesRemoved, damagedBytes, linkRefused, sessionGone } from "../errors.ts";
import type { ArtifactRow, SessionRow, Viewer } from "../model.ts";
import { markLost } from "../objects/lost.ts";
import { findLinked } from "../store.ts";
import type { AddressParameters } from "../uploads/receiving.ts";
import { visibleSession } from "../visibility.ts";
import { currentOf, storeWith } from "./current.ts";

export interface DownloadOffer {
  url: string;
  expiresInSeconds: number;
}

/** A local object for the holder of its URL. */
export interface OpenedObject {
  path: string;
  sha256: string;
  /** ASCII without quotes */
  fileName: string;
}

/** The bytes of a version. */
export interface ReadObject extends Pick<ArtifactRow, "sizeBytes" | "sha256"> {
  /** damaged bytes are recorded as lost, and throw DomainError `sessions.damaged` after the last byte */
  bytes: AsyncIterable<Uint8Array>;
  /** ASCII without quotes */
  fileName: string;
}

type Dependencies = Pick<
  SessionsDependencies,
  "db" | "clock" | "audit" | "settings" | "stores" | "blobs" | "links"
>;

export class Downloads {
  constructor(private readonly dependencies: Dependencies) {}

  /**
   * @throws DomainError `sessions.not_found`, also without a completed version; `sessions.not_visible`, `sessions.expired`,
   *   `sessions.bytes_lost`, `sessions.store_unavailable`
   */
  async offer(actor: Actor, viewer: Viewer, sessionId: string): Promise<DownloadOffer> {
    const { db, clock, audit, settings } = this.dependencies;
    const session = visibleSession(db.read, viewer, sessionId);
    const artifact = currentOf(this.dependencies, session);
    const objects = await storeWith(this.dependencies, artifact, actor);
    const expiresInSeconds = settings.urlTtlSeconds;
    const expiresAtSeconds = Math.floor(clock.nowMs() / SECOND_MS) + expiresInSeconds;
    const url = objects.downloadUrl(artifact, { fileName: fileNameOf(session), expiresAtSeconds });
    const after = { artifact_id: artifact.id, owner: session.userId };
    const event = { actor, action: "captured_session.download", target: session.id, after };
    await db.write((tx) => audit.record(tx, event), "unobserved");
    return { url, expiresInSeconds };
  }

  /**
   * Reads the current version for the operator.
   * @throws DomainError like `offer`
   */
  async read(actor: Actor, viewer: Viewer, sessionId: string): Promise<ReadObject> {
    const { db, audit } = this.dependencies;
    const session = visibleSession(db.read, viewer, sessionId);
    const artifact = currentOf(this.dependencies, session);
    const objects = await storeWith(this.dependencies, artifact, actor);
    const after = { artifact_id: artifact.id, owner: session.userId };
    const event = { actor, action: "captured_session.export", target: session.id, after };
    await db.write((tx) => audit.record(tx, event), "unobserved");
    const { sizeBytes, sha256 } = artifact;
    const bytes = this.#proved(objects.read(artifact.place), artifact, actor);
    return { bytes, sizeBytes, sha256, fileName: fileNameOf(session) };
  }

  async *#proved(
    bytes: AsyncIterable<Uint8Array>,
    artifact: ArtifactRow,
    actor: Actor,
  ): AsyncGenerator<Uint8Array> {
    const hasher = new Bun.CryptoHasher("sha256");
    for await (const piece of bytes) {
      hasher.update(piece);
      yield piece;
    }
    if (hasher.digest("hex") === artifact.sha256) return;
    await markLost(this.dependencies, actor, artifact);
    throw damagedBytes();
  }

  /**
   * @returns the bytes at a URL of ours
   * @throws DomainError `sessions.bytes_removed`, `sessions.bytes_moved`, `sessions.link_refused`, `sessions.bytes_lost`
   */
  async open({ id, expires, signature }: AddressParameters): Promise<OpenedObject> {
    const { db, clock, links, blobs } = this.dependencies;
    const artifact = findLinked(db.read, id);
    if (!artifact) throw bytesRemoved();
    if (artifact.store !== "local") throw bytesMoved();
    const isOver = clock.nowMs() >= expires * SECOND_MS;
    if (isOver || !links.isSigned({ method: "GET", object: artifact, expires }, signature))
      throw linkRefused();
    if (artifact.lostAtMs !== null) throw sessionGone("lost");
    const digest = parseDigest(artifact.place);
    if (blobs.size(digest) !== artifact.sizeBytes) {
      await markLost(this.dependencies, holderOf(artifact), artifact);
      throw sessionGone("lost");
    }
    const fileName = fileNameOf({ id: artifact.sessionId, harness: artifact.harness });
    return { path: blobs.path(digest), sha256: artifact.sha256, fileName };
  }
}

const ID_DIGITS_SHOWN = 8;

const fileNameOf = ({ id, harness }: Pick<SessionRow, "id" | "harness">): string =>
  `${harness}-${id.slice(0, ID_DIGITS_SHOWN)}.tgz`;

/** A URL works for anyone who has it, so no user is known here. */
const holderOf = ({ organizationId }: ArtifactRow): Actor => ({
  kind: "system",
  id: null,
  label: "download",
  organizationId,
});
