-- Commits of repositories that were made into archives. Two repositories with the same content share an artifact.
CREATE TABLE mirrors (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  artifact_id TEXT NOT NULL REFERENCES artifacts (id),
  connection_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  repository TEXT NOT NULL,
  path TEXT NOT NULL,
  ref TEXT NOT NULL,
  ref_kind TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  committed_at_ms INTEGER,
  host_sha256 TEXT NOT NULL,
  mirror_format INTEGER NOT NULL,
  view TEXT NOT NULL,
  mirrored_by TEXT NOT NULL,
  mirrored_at_ms INTEGER NOT NULL,
  CONSTRAINT mirrors_ref_kind CHECK (ref_kind IN ('branch', 'tag', 'commit'))
) STRICT;
CREATE UNIQUE INDEX mirrors_commit ON mirrors (organization_id, connection_id, repository, path, commit_id);
CREATE INDEX mirrors_artifact ON mirrors (artifact_id);
-- How the last request to each repository connection went.
CREATE TABLE connection_states (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  connection_id TEXT NOT NULL,
  -- stable reason of the failure; null if it was answered
  reason TEXT,
  -- when that began
  since_ms INTEGER NOT NULL,
  asked_at_ms INTEGER NOT NULL,
  PRIMARY KEY (organization_id, connection_id)
) STRICT, WITHOUT ROWID;
-- Since when no revision, draft and catalog entry names the artifact; null while one does.
ALTER TABLE artifacts ADD COLUMN unnamed_since_ms INTEGER;
