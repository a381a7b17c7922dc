-- When a git host last announced a change of a repository (SRC-27): refs that were looked up before are due.
CREATE TABLE source_announcements (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  connection_id TEXT NOT NULL,
  announced_at_ms INTEGER NOT NULL,
  PRIMARY KEY (organization_id, connection_id)
) STRICT, WITHOUT ROWID;
