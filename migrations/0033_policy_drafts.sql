-- Drafts of the policy, one per administrator.
CREATE TABLE policy_drafts (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  owner_id TEXT NOT NULL UNIQUE REFERENCES users (id),
  base_revision TEXT NOT NULL,
  document TEXT NOT NULL,
  audiences TEXT NOT NULL,
  typed TEXT NOT NULL,
  is_shared INTEGER NOT NULL CONSTRAINT policy_drafts_is_shared CHECK (is_shared IN (0, 1)),
  version INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  saved_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX policy_drafts_saved ON policy_drafts (saved_at_ms);
