-- The total of a text that most sessions have is counted session by session. Their rows are three times as large as what the count
-- needs, and reading them took most of its time. This index has only that, in the order of the search index, so that the job that
-- numbers a text adds its entry near the last one. Sessions without a current artifact have no number any more: no list has them.
UPDATE captured_sessions SET search_number = NULL WHERE current_artifact_id IS NULL AND search_number IS NOT NULL;
CREATE INDEX captured_sessions_texts
  ON captured_sessions (organization_id, sharing_mode, search_number, user_id, id, search_text) WHERE search_number IS NOT NULL;
