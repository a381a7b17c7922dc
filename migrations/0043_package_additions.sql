-- Packages that administrators are adding step by step; each administrator adds one at a time.
CREATE TABLE package_additions (
  owner_id TEXT PRIMARY KEY REFERENCES users (id),
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  content TEXT NOT NULL,
  version INTEGER NOT NULL,
  saved_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX package_additions_saved ON package_additions (saved_at_ms);
