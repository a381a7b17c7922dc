// Only the durable changes of announcements and completions, with the schema and the statements of the service: the rows, their
// indexes and triggers, and the audit entry. Nothing is checked, looked up or signed.
import { createAudit } from "../../../src/domain/audit/service.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import {
  type ArtifactRow,
  type SessionMetadata,
  type SessionRow,
  searchTextOf,
} from "../../../src/domain/sessions/model.ts";
import * as store from "../../../src/domain/sessions/uploads/upload-store.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { systemIds } from "../../../src/platform/ids.ts";

const WINDOW_MS = 900_000;
const RETENTION_MS = 30 * 86_400_000;

/** @param file database of an installation with users */
export function openRows(file: string) {
  const db = openDatabase(file);
  const people = db.read.select().from(users).all();
  const audit = createAudit({ clock: systemClock });
  const announced: { session: SessionRow; artifact: ArtifactRow; email: string }[] = [];
  let sessions = 0;
  let completed = 0;

  const rowsOf = () => {
    const owner = people[sessions % people.length];
    if (!owner) throw new Error("the installation has users");
    sessions += 1;
    const nowMs = Date.now();
    const metadata: SessionMetadata = {
      artifactFormat: "blue-session-bundle-v1",
      resumable: true,
      cwd: "/home/ada/project",
      title: "A title",
      summary: null,
      repositoryRoot: null,
      repositoryRemote: null,
      capturedAtMs: nowMs,
    } as const;
    const ids = { organizationId: owner.organizationId, userId: owner.id, createdAtMs: nowMs };
    const nativeSessionId = `native-${sessions}`;
    const session: SessionRow = {
      ...ids,
      ...metadata,
      id: systemIds.uuid(),
      harness: "codex",
      profile: "codex-v0_145_0",
      nativeSessionId,
      searchText: searchTextOf(nativeSessionId, metadata),
      searchNumber: null,
      oldVersions: 0,
      currentArtifactId: null,
      sharingMode: "private",
      updatedAtMs: nowMs,
      heldAtMs: null,
      goneAtMs: null,
    };
    const artifact: ArtifactRow = {
      ...ids,
      ...metadata,
      id: systemIds.uuid(),
      sessionId: session.id,
      sha256: SHA256,
      sizeBytes: 200_000,
      contentType: "application/vnd.blue.session-bundle+tar+gzip",
      status: "pending",
      store: "local",
      place: SHA256,
      windowEndsAtMs: nowMs + WINDOW_MS,
      storedAtMs: null,
      completedAtMs: null,
      supersededAtMs: null,
      failedAtMs: null,
      failureReason: null,
      lostAtMs: null,
      expiresAtMs: nowMs + WINDOW_MS,
    };
    return { session, artifact, email: owner.email };
  };

  return {
    announce: () =>
      db.writeGrouped((tx) => {
        const rows = rowsOf();
        store.addSession(tx, rows.session);
        store.addArtifact(tx, rows.artifact);
        announced.push(rows);
      }, "unobserved"),

    complete: () =>
      db.writeGrouped((tx) => {
        const rows = announced[completed];
        if (!rows) throw new Error("every completion has its announcement");
        completed += 1;
        const { session, artifact, email } = rows;
        const { id, organizationId, userId: owner, sha256, sizeBytes } = artifact;
        const nowMs = Date.now();
        store.markComplete(tx, { id, nowMs, expiresAtMs: nowMs + RETENTION_MS });
        store.promote(tx, { ...session, currentArtifactId: id, updatedAtMs: nowMs });
        audit.record(tx, {
          actor: { kind: "user", id: owner, label: email, organizationId, address: "127.0.0.1" },
          action: "captured_session.complete",
          target: session.id,
          after: { artifact_id: id, owner, sha256, size_bytes: sizeBytes },
        });
      }, "unobserved"),
  };
}

const SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
