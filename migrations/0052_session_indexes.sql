-- A completed session wrote three indexes with its owner in front, each into a page of its own, which was a quarter of the work of a
-- completion. One index has the filters of these lists behind the order: a list reads past the entries that do not match without
-- reading their sessions.
DROP INDEX captured_sessions_owned_harness;
DROP INDEX captured_sessions_owned_portable;
DROP INDEX captured_sessions_owned;
CREATE INDEX captured_sessions_owned ON captured_sessions (user_id, updated_at_ms, id, harness, resumable)
  WHERE current_artifact_id IS NOT NULL;
-- One upload at a time for the same bytes of a session, which belongs to one user. Lists of unfinished and failed uploads read this
-- index, which is small: such uploads are kept for a short time.
DROP INDEX session_artifacts_unsettled;
DROP INDEX session_artifacts_announced;
CREATE UNIQUE INDEX session_artifacts_announced ON session_artifacts (user_id, session_id, sha256)
  WHERE status IN ('pending', 'failed');
-- Versions without bytes, by the place of the bytes: an upload of the same bytes finds them all.
CREATE INDEX session_artifacts_lost ON session_artifacts (place) WHERE lost_at_ms IS NOT NULL;
-- Searches for two characters look up the entries that begin with them. Texts get two more characters at their end, so that each of
-- their own begins an entry: all are put into the index again, by the job. Until then a search reads the texts.
DROP TRIGGER captured_sessions_renumbered;
UPDATE captured_sessions SET search_number = NULL WHERE search_number IS NOT NULL;
CREATE TRIGGER captured_sessions_renumbered AFTER UPDATE OF search_number ON captured_sessions
WHEN OLD.search_number IS NOT NULL AND NEW.search_number IS NOT OLD.search_number
BEGIN
  DELETE FROM session_search WHERE rowid = OLD.search_number;
END;
INSERT INTO session_search (session_search) VALUES ('delete-all');
CREATE VIRTUAL TABLE session_search_terms USING fts5vocab(session_search, 'row');
