// Sessions as the API and the commands show them.
import { toRfc3339 } from "../../../platform/clock.ts";
import type { SessionDetail } from "./detail.ts";
import type { SessionView } from "./lists.ts";

export const toWireSession = ({ artifact, ...session }: SessionView) => ({
  id: session.id,
  user_id: session.userId,
  user_email: session.userEmail,
  harness: session.harness,
  compatibility_profile: session.profile,
  native_session_id: session.nativeSessionId,
  cwd: session.cwd,
  artifact_format: session.artifactFormat,
  resumable: session.resumable,
  title: session.title,
  summary: session.summary,
  source_captured_at: timeOrNull(session.capturedAtMs),
  repository: { root: session.repositoryRoot, remote: session.repositoryRemote },
  sharing_mode: session.sharingMode,
  share_recipient_count: session.recipientCount,
  updated_at: toRfc3339(session.updatedAtMs),
  status: artifact?.status ?? null,
  size_bytes: artifact?.sizeBytes ?? null,
  content_type: artifact?.contentType ?? null,
  retention_expires_at: timeOrNull(artifact?.expiresAtMs ?? null),
});

export const toWireDetail = ({ session, userIds, artifacts }: SessionDetail) => ({
  session: toWireSession(session),
  sharing: { user_ids: userIds, recipient_count: session.recipientCount },
  artifacts: artifacts.map((artifact) => ({
    id: artifact.id,
    sha256: artifact.sha256,
    size_bytes: artifact.sizeBytes,
    content_type: artifact.contentType,
    status: artifact.status,
    created_at: toRfc3339(artifact.createdAtMs),
    completed_at: timeOrNull(artifact.completedAtMs),
    retention_expires_at: artifact.completedAtMs === null ? null : toRfc3339(artifact.expiresAtMs),
    failure_reason: artifact.failureReason,
  })),
});

const timeOrNull = (atMs: number | null): string | null => (atMs === null ? null : toRfc3339(atMs));
