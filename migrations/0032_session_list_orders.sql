-- Lists in the order of an index: sessions with old versions, portable sessions, and sessions shared with a user by harness.
ALTER TABLE captured_sessions ADD COLUMN old_versions INTEGER NOT NULL DEFAULT 0;
UPDATE captured_sessions SET old_versions = old.versions
FROM (SELECT session_id, count(*) AS versions FROM session_artifacts WHERE status = 'superseded' GROUP BY session_id) AS old
WHERE id = old.session_id;
CREATE TRIGGER session_artifacts_old_added AFTER INSERT ON session_artifacts WHEN NEW.status = 'superseded' BEGIN
  UPDATE captured_sessions SET old_versions = old_versions + 1 WHERE id = NEW.session_id;
END;
CREATE TRIGGER session_artifacts_superseded AFTER UPDATE OF status ON session_artifacts
WHEN (OLD.status = 'superseded') <> (NEW.status = 'superseded')
BEGIN
  UPDATE captured_sessions SET old_versions = old_versions + iif(NEW.status = 'superseded', 1, -1) WHERE id = NEW.session_id;
END;
CREATE TRIGGER session_artifacts_old_removed AFTER DELETE ON session_artifacts WHEN OLD.status = 'superseded' BEGIN
  UPDATE captured_sessions SET old_versions = old_versions - 1 WHERE id = OLD.session_id;
END;
CREATE INDEX captured_sessions_versioned ON captured_sessions (organization_id, updated_at_ms, id) WHERE old_versions > 0;
CREATE INDEX captured_sessions_owned_versioned ON captured_sessions (user_id, updated_at_ms, id) WHERE old_versions > 0;
CREATE INDEX captured_sessions_owned_portable ON captured_sessions (user_id, resumable, updated_at_ms, id)
  WHERE current_artifact_id IS NOT NULL AND resumable = 1;
CREATE INDEX captured_sessions_workspace_portable ON captured_sessions (organization_id, resumable, updated_at_ms, id)
  WHERE current_artifact_id IS NOT NULL AND sharing_mode = 'workspace' AND resumable = 1;
-- Copied from the session, which never changes it.
ALTER TABLE session_grants ADD COLUMN harness TEXT NOT NULL DEFAULT '';
UPDATE session_grants SET harness = session.harness FROM captured_sessions AS session WHERE session.id = session_id;
CREATE INDEX session_grants_harness ON session_grants (user_id, harness, updated_at_ms, session_id);
