-- Backups that were made of this data directory, newest wanted: for metrics and status, which must not read files for it.
CREATE TABLE backups (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CONSTRAINT backups_kind CHECK (kind IN ('manual', 'scheduled')),
  path TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  database_sha256 TEXT NOT NULL
) STRICT;
CREATE INDEX backups_created ON backups (created_at_ms);
