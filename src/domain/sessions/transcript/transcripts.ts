// Shows transcripts to the owner, to recipients of the session, and to administrators if the operator allows it. Opening a
// transcript of another user writes an audit entry.
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { currentOf, storeWith } from "../downloads/current.ts";
import { mayNotRead, notOwnSession } from "../errors.ts";
import type { ArtifactRow, SessionRow, Viewer } from "../model.ts";
import { type ReadingRight, rightToRead, visibleSession } from "../visibility.ts";
import type { StoredAs } from "./bundle.ts";
import { readCursor, type TranscriptPage } from "./model.ts";
import type { TranscriptReader } from "./reader.ts";
import type { SecretScan } from "./secrets.ts";

/** A page, and the id of its version. */
export interface ReadTranscript extends TranscriptPage {
  artifactId: string;
}

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "settings" | "stores"> & {
  reader: TranscriptReader;
};

export class Transcripts {
  constructor(private readonly dependencies: Dependencies) {}

  /** @returns why the viewer may read the transcript of a visible session; undefined if not allowed */
  right(
    viewer: Viewer,
    session: Pick<SessionRow, "id" | "userId" | "sharingMode">,
  ): ReadingRight | undefined {
    return rightToRead(this.dependencies.db.read, session, viewer, this.dependencies.settings);
  }

  /**
   * @param cursor from the previous page; undefined for the first one
   * @throws DomainError `sessions.not_found`, `sessions.not_visible`, `sessions.may_not_read`, `sessions.invalid`,
   * `sessions.no_transcript`, `sessions.expired`, `sessions.bytes_lost`, `sessions.readers_busy`, `sessions.store_unavailable`
   */
  async read(
    actor: Actor,
    viewer: Viewer,
    { id, cursor }: { id: string; cursor?: string | undefined },
  ): Promise<ReadTranscript> {
    const { db, audit, reader } = this.dependencies;
    const session = visibleSession(db.read, viewer, id);
    const right = this.right(viewer, session);
    if (right === undefined) throw mayNotRead();
    const place = readCursor(cursor);
    const artifact = currentOf(this.dependencies, session);
    const objects = await storeWith(this.dependencies, artifact, actor);
    if (right !== "owner") {
      const after = {
        artifact_id: artifact.id,
        owner: session.userId,
        as: right,
        entries_before: place.before,
      };
      const event = { actor, action: "captured_session.read", target: session.id, after };
      await db.write((tx) => audit.record(tx, event), "unobserved");
    }
    const page = await reader.page(() => objects.read(artifact.place), storedAs(session, artifact), place);
    return { ...page, artifactId: artifact.id };
  }

  /**
   * Finds strings that look like keys, for an owner who is about to share the session. Stores nothing.
   * @throws DomainError `sessions.not_own` and those of `read`
   */
  async scan(actor: Actor, viewer: Viewer, id: string): Promise<SecretScan> {
    const session = visibleSession(this.dependencies.db.read, viewer, id);
    if (session.userId !== viewer.userId) throw notOwnSession();
    const artifact = currentOf(this.dependencies, session);
    const objects = await storeWith(this.dependencies, artifact, actor);
    return await this.dependencies.reader.scan(
      () => objects.read(artifact.place),
      storedAs(session, artifact),
    );
  }
}

const storedAs = ({ harness }: SessionRow, { artifactFormat: format }: ArtifactRow): StoredAs => ({
  format,
  harness,
});
