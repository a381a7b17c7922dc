-- What branches and tags of repositories stood for when they were last looked up, for packages of the policy.
CREATE TABLE source_watches (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  connection_id TEXT NOT NULL,
  repository TEXT NOT NULL,
  ref TEXT NOT NULL,
  -- null until the host answered once
  commit_id TEXT,
  -- stable reason of the last failure; null if the host answered
  reason TEXT,
  checked_at_ms INTEGER NOT NULL,
  PRIMARY KEY (organization_id, connection_id, repository, ref)
) STRICT, WITHOUT ROWID;
