-- Number and bytes of each user's pending artifacts, so that a limit is checked without looking at all of them. A user without any
-- has no row.
CREATE TABLE session_pending (
  user_id TEXT PRIMARY KEY,
  uploads INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO session_pending (user_id, uploads, bytes)
  SELECT user_id, count(*), sum(size_bytes) FROM session_artifacts WHERE status = 'pending' GROUP BY user_id;
DROP INDEX session_artifacts_pending;
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
