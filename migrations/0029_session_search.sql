-- Candidates of a text search: which three characters in a row the text of a session has. The index keeps neither texts nor
-- positions, so whoever searches compares the text of each candidate. A job numbers and indexes new texts.
ALTER TABLE captured_sessions ADD COLUMN search_number INTEGER;
CREATE UNIQUE INDEX captured_sessions_numbered ON captured_sessions (search_number) WHERE search_number IS NOT NULL;
CREATE INDEX captured_sessions_unnumbered ON captured_sessions (id)
  WHERE current_artifact_id IS NOT NULL AND search_number IS NULL;
CREATE VIRTUAL TABLE session_search
  USING fts5 (text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram case_sensitive 1');
CREATE TRIGGER captured_sessions_renumbered AFTER UPDATE OF search_number ON captured_sessions
WHEN OLD.search_number IS NOT NULL AND NEW.search_number IS NOT OLD.search_number
BEGIN
  DELETE FROM session_search WHERE rowid = OLD.search_number;
END;
CREATE TRIGGER captured_sessions_dropped AFTER DELETE ON captured_sessions WHEN OLD.search_number IS NOT NULL BEGIN
  DELETE FROM session_search WHERE rowid = OLD.search_number;
END;
