-- An announcement and a completion wrote a page of each of two indexes for every user, and looked the user and the organization up
-- again that their session names already. The owner of a version is that of its session. Unfinished uploads have one small index.
CREATE TABLE new_session_artifacts (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES captured_sessions (id),
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  artifact_format TEXT NOT NULL,
  resumable INTEGER NOT NULL,
  cwd TEXT,
  title TEXT,
  summary TEXT,
  repository_root TEXT,
  repository_remote TEXT,
  captured_at_ms INTEGER,
  status TEXT NOT NULL,
  store TEXT NOT NULL,
  place TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  window_ends_at_ms INTEGER NOT NULL,
  stored_at_ms INTEGER,
  completed_at_ms INTEGER,
  superseded_at_ms INTEGER,
  failed_at_ms INTEGER,
  failure_reason TEXT,
  lost_at_ms INTEGER,
  expires_at_ms INTEGER NOT NULL,
  CONSTRAINT session_artifacts_status CHECK (status IN ('pending', 'complete', 'superseded', 'failed')),
  CONSTRAINT session_artifacts_store CHECK (store IN ('local', 's3'))
) STRICT;
INSERT INTO new_session_artifacts SELECT * FROM session_artifacts;
DROP TABLE session_artifacts;
ALTER TABLE new_session_artifacts RENAME TO session_artifacts;
-- One upload at a time for the same bytes of a session.
CREATE UNIQUE INDEX session_artifacts_announced ON session_artifacts (session_id, sha256)
  WHERE status IN ('pending', 'failed');
-- Lists of unfinished and failed uploads, which are kept for a short time.
CREATE INDEX session_artifacts_unfinished ON session_artifacts (user_id) WHERE status IN ('pending', 'failed');
CREATE INDEX session_artifacts_session ON session_artifacts (session_id, created_at_ms, id);
CREATE INDEX session_artifacts_place ON session_artifacts (place, store);
CREATE INDEX session_artifacts_expiry ON session_artifacts (expires_at_ms);
CREATE INDEX session_artifacts_lost ON session_artifacts (place) WHERE lost_at_ms IS NOT NULL;
CREATE TRIGGER session_artifacts_added AFTER INSERT ON session_artifacts BEGIN
  INSERT INTO session_totals (store, state, artifacts, bytes)
  VALUES (NEW.store, iif(NEW.status = 'pending' AND NEW.stored_at_ms IS NOT NULL, 'stored', NEW.status), 1, NEW.size_bytes)
  ON CONFLICT DO UPDATE SET artifacts = artifacts + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER session_artifacts_removed AFTER DELETE ON session_artifacts BEGIN
  UPDATE session_totals SET artifacts = artifacts - 1, bytes = bytes - OLD.size_bytes
  WHERE store = OLD.store AND state = iif(OLD.status = 'pending' AND OLD.stored_at_ms IS NOT NULL, 'stored', OLD.status);
END;
CREATE TRIGGER session_artifacts_moved AFTER UPDATE OF status, stored_at_ms, store ON session_artifacts BEGIN
  UPDATE session_totals SET artifacts = artifacts - 1, bytes = bytes - OLD.size_bytes
  WHERE store = OLD.store AND state = iif(OLD.status = 'pending' AND OLD.stored_at_ms IS NOT NULL, 'stored', OLD.status);
  INSERT INTO session_totals (store, state, artifacts, bytes)
  VALUES (NEW.store, iif(NEW.status = 'pending' AND NEW.stored_at_ms IS NOT NULL, 'stored', NEW.status), 1, NEW.size_bytes)
  ON CONFLICT DO UPDATE SET artifacts = artifacts + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER session_pending_added AFTER INSERT ON session_artifacts WHEN NEW.status = 'pending' BEGIN
  INSERT INTO session_pending (user_id, uploads, bytes) VALUES (NEW.user_id, 1, NEW.size_bytes)
  ON CONFLICT DO UPDATE SET uploads = uploads + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER session_pending_changed AFTER UPDATE OF status, size_bytes ON session_artifacts
WHEN NEW.status = 'pending' BEGIN
  INSERT INTO session_pending (user_id, uploads, bytes)
  VALUES (NEW.user_id, OLD.status <> 'pending', NEW.size_bytes - iif(OLD.status = 'pending', OLD.size_bytes, 0))
  ON CONFLICT DO UPDATE SET uploads = uploads + excluded.uploads, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER session_pending_settled AFTER UPDATE OF status ON session_artifacts
WHEN OLD.status = 'pending' AND NEW.status <> 'pending' BEGIN
  UPDATE session_pending SET uploads = uploads - 1, bytes = bytes - OLD.size_bytes WHERE user_id = OLD.user_id;
  DELETE FROM session_pending WHERE user_id = OLD.user_id AND uploads = 0;
END;
CREATE TRIGGER session_pending_dropped AFTER DELETE ON session_artifacts WHEN OLD.status = 'pending' BEGIN
  UPDATE session_pending SET uploads = uploads - 1, bytes = bytes - OLD.size_bytes WHERE user_id = OLD.user_id;
  DELETE FROM session_pending WHERE user_id = OLD.user_id AND uploads = 0;
END;
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
