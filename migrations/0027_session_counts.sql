-- Number of listed sessions by who sees them, so that totals of lists and the choices of their filters need no look at each session.
-- `viewer_id` is the owner, or the organization (with an empty `owner_id`), or a recipient (mode `granted`). `day` counts UTC days
-- of the last completion. Rows without sessions are removed.
CREATE TABLE session_counts (
  viewer_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  harness TEXT NOT NULL,
  day INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  PRIMARY KEY (viewer_id, mode, owner_id, harness, day)
) STRICT, WITHOUT ROWID;
INSERT INTO session_counts
SELECT organization_id, sharing_mode, '', harness, updated_at_ms / 86400000, count(*)
FROM captured_sessions WHERE current_artifact_id IS NOT NULL GROUP BY 1, 2, 4, 5;
INSERT INTO session_counts
SELECT user_id, sharing_mode, user_id, harness, updated_at_ms / 86400000, count(*)
FROM captured_sessions WHERE current_artifact_id IS NOT NULL GROUP BY 1, 2, 4, 5;
INSERT INTO session_counts
SELECT g.user_id, 'granted', s.user_id, s.harness, s.updated_at_ms / 86400000, count(*)
FROM session_grants g JOIN captured_sessions s ON s.id = g.session_id
WHERE s.current_artifact_id IS NOT NULL AND s.sharing_mode = 'selected' GROUP BY 1, 3, 4, 5;
-- A session is never added or removed with a current artifact: the foreign keys of both tables forbid it.
CREATE TRIGGER captured_sessions_left AFTER UPDATE OF current_artifact_id, sharing_mode, updated_at_ms ON captured_sessions
WHEN OLD.current_artifact_id IS NOT NULL AND (NEW.current_artifact_id IS NULL OR NEW.sharing_mode <> OLD.sharing_mode
  OR NEW.updated_at_ms / 86400000 <> OLD.updated_at_ms / 86400000)
BEGIN
  UPDATE session_counts SET sessions = sessions - 1
  WHERE viewer_id = OLD.organization_id AND mode = OLD.sharing_mode AND owner_id = '' AND harness = OLD.harness
    AND day = OLD.updated_at_ms / 86400000;
  UPDATE session_counts SET sessions = sessions - 1
  WHERE viewer_id = OLD.user_id AND mode = OLD.sharing_mode AND owner_id = OLD.user_id AND harness = OLD.harness
    AND day = OLD.updated_at_ms / 86400000;
  UPDATE session_counts SET sessions = sessions - 1
  WHERE OLD.sharing_mode = 'selected' AND viewer_id IN (SELECT user_id FROM session_grants WHERE session_id = OLD.id)
    AND mode = 'granted' AND owner_id = OLD.user_id AND harness = OLD.harness AND day = OLD.updated_at_ms / 86400000;
END;
CREATE TRIGGER captured_sessions_joined AFTER UPDATE OF current_artifact_id, sharing_mode, updated_at_ms ON captured_sessions
WHEN NEW.current_artifact_id IS NOT NULL AND (OLD.current_artifact_id IS NULL OR NEW.sharing_mode <> OLD.sharing_mode
  OR NEW.updated_at_ms / 86400000 <> OLD.updated_at_ms / 86400000)
BEGIN
  INSERT INTO session_counts
  VALUES (NEW.organization_id, NEW.sharing_mode, '', NEW.harness, NEW.updated_at_ms / 86400000, 1),
    (NEW.user_id, NEW.sharing_mode, NEW.user_id, NEW.harness, NEW.updated_at_ms / 86400000, 1)
  ON CONFLICT DO UPDATE SET sessions = sessions + 1;
  INSERT INTO session_counts
  SELECT user_id, 'granted', NEW.user_id, NEW.harness, NEW.updated_at_ms / 86400000, 1 FROM session_grants
  WHERE session_id = NEW.id AND NEW.sharing_mode = 'selected'
  ON CONFLICT DO UPDATE SET sessions = sessions + 1;
END;
CREATE TRIGGER session_grants_added AFTER INSERT ON session_grants BEGIN
  INSERT INTO session_counts
  SELECT NEW.user_id, 'granted', user_id, harness, updated_at_ms / 86400000, 1 FROM captured_sessions
  WHERE id = NEW.session_id AND current_artifact_id IS NOT NULL AND sharing_mode = 'selected'
  ON CONFLICT DO UPDATE SET sessions = sessions + 1;
END;
CREATE TRIGGER session_grants_removed AFTER DELETE ON session_grants BEGIN
  UPDATE session_counts SET sessions = sessions - 1
  WHERE (viewer_id, mode, owner_id, harness, day) = (
    SELECT OLD.user_id, 'granted', user_id, harness, updated_at_ms / 86400000 FROM captured_sessions
    WHERE id = OLD.session_id AND current_artifact_id IS NOT NULL AND sharing_mode = 'selected');
END;
CREATE TRIGGER session_counts_emptied AFTER UPDATE OF sessions ON session_counts WHEN NEW.sessions = 0 BEGIN
  DELETE FROM session_counts
  WHERE viewer_id = NEW.viewer_id AND mode = NEW.mode AND owner_id = NEW.owner_id AND harness = NEW.harness AND day = NEW.day;
END;
-- Lists by harness of an owner, and of what everybody sees.
CREATE INDEX captured_sessions_owned_harness ON captured_sessions (user_id, harness, updated_at_ms, id)
  WHERE current_artifact_id IS NOT NULL;
CREATE INDEX captured_sessions_workspace_harness ON captured_sessions (organization_id, harness, updated_at_ms, id)
  WHERE current_artifact_id IS NOT NULL AND sharing_mode = 'workspace';
