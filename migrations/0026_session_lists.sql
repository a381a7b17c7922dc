-- Lists by harness, and the harnesses of an organization.
CREATE INDEX captured_sessions_harness ON captured_sessions (organization_id, harness, updated_at_ms, id)
  WHERE current_artifact_id IS NOT NULL;
-- Lists of sessions with an unfinished, failed or superseded version, which may have no current one.
CREATE INDEX session_artifacts_unsettled ON session_artifacts (organization_id, status, session_id) WHERE status <> 'complete';
