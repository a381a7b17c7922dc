-- What people keep about the console: lists under a name, and columns and rows of a list.
CREATE TABLE console_views (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  owner_id TEXT NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  query TEXT NOT NULL,
  is_shared INTEGER NOT NULL CONSTRAINT console_views_is_shared CHECK (is_shared IN (0, 1)),
  CONSTRAINT console_views_name UNIQUE (owner_id, path, name)
) STRICT;
CREATE INDEX console_views_shared ON console_views (organization_id, path, name) WHERE is_shared = 1;
CREATE TABLE console_lists (
  owner_id TEXT NOT NULL REFERENCES users (id),
  path TEXT NOT NULL,
  query TEXT NOT NULL,
  PRIMARY KEY (owner_id, path)
) STRICT, WITHOUT ROWID;
