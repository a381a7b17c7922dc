-- Lists of sessions with an unfinished, failed or superseded artifact, which may have no current one.
CREATE INDEX captured_sessions_any ON captured_sessions (organization_id, updated_at_ms, id);
