-- Captured coding sessions. A session is one native session of a user; an artifact is one uploaded version of it; an object is the
-- bytes of an artifact in the store. What a reader sees of a session is copied from its artifact when that one is complete.
CREATE TABLE captured_sessions (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  harness TEXT NOT NULL,
  profile TEXT NOT NULL,
  native_session_id TEXT NOT NULL,
  artifact_format TEXT NOT NULL,
  resumable INTEGER NOT NULL,
  cwd TEXT,
  title TEXT,
  summary TEXT,
  repository_root TEXT,
  repository_remote TEXT,
  captured_at_ms INTEGER,
  search_text TEXT NOT NULL,
  current_artifact_id TEXT REFERENCES session_artifacts (id),
  sharing_mode TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  held_at_ms INTEGER,
  gone_at_ms INTEGER,
  CONSTRAINT captured_sessions_sharing_mode CHECK (sharing_mode IN ('private', 'workspace', 'selected')),
  CONSTRAINT captured_sessions_native UNIQUE (user_id, harness, profile, native_session_id)
) STRICT;
CREATE INDEX captured_sessions_newest ON captured_sessions (organization_id, updated_at_ms, id)
  WHERE current_artifact_id IS NOT NULL;
CREATE INDEX captured_sessions_owned ON captured_sessions (user_id, updated_at_ms, id)
  WHERE current_artifact_id IS NOT NULL;
CREATE INDEX captured_sessions_workspace ON captured_sessions (organization_id, updated_at_ms, id)
  WHERE current_artifact_id IS NOT NULL AND sharing_mode = 'workspace';
CREATE INDEX captured_sessions_gone ON captured_sessions (gone_at_ms) WHERE gone_at_ms IS NOT NULL;
CREATE INDEX captured_sessions_current ON captured_sessions (current_artifact_id) WHERE current_artifact_id IS NOT NULL;
-- Columns up to `captured_at_ms` are what the uploader announced. Retention may remove a row after `expires_at_ms`. `stored_at_ms`
-- is the time at which the bytes were proved by the local store.
CREATE TABLE session_artifacts (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL REFERENCES users (id),
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
-- One upload at a time for the same bytes of a session.
CREATE UNIQUE INDEX session_artifacts_announced ON session_artifacts (session_id, sha256)
  WHERE status IN ('pending', 'failed');
CREATE INDEX session_artifacts_session ON session_artifacts (session_id, created_at_ms, id);
CREATE INDEX session_artifacts_place ON session_artifacts (place, store);
CREATE INDEX session_artifacts_expiry ON session_artifacts (expires_at_ms);
CREATE INDEX session_artifacts_pending ON session_artifacts (user_id, size_bytes) WHERE status = 'pending';
CREATE INDEX session_artifacts_owner ON session_artifacts (user_id);
-- Recipients of sessions that are shared with selected users. The time of the session is repeated so that a list of what is
-- shared with a user needs no sorting.
CREATE TABLE session_grants (
  session_id TEXT NOT NULL REFERENCES captured_sessions (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (session_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_grants_newest ON session_grants (user_id, updated_at_ms, session_id);
-- Objects whose row is gone and which the store must still delete.
CREATE TABLE session_object_removals (
  store TEXT NOT NULL,
  place TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  marked_at_ms INTEGER NOT NULL,
  PRIMARY KEY (store, place),
  CONSTRAINT session_object_removals_store CHECK (store IN ('local', 's3'))
) STRICT, WITHOUT ROWID;
CREATE INDEX session_object_removals_oldest ON session_object_removals (marked_at_ms);
-- Number and bytes of artifacts by store and state. `stored` is a pending artifact whose bytes are here.
CREATE TABLE session_totals (
  store TEXT NOT NULL,
  state TEXT NOT NULL,
  artifacts INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (store, state)
) STRICT, WITHOUT ROWID;
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
