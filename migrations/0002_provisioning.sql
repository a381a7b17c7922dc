-- Provisioning by an identity provider (SCIM 2.0). `*_key` columns hold folded text, `doc` a resource as it was sent,
-- `doc_key` what is shown of it, folded, for filters.

-- An address may come back to somebody else: only accounts that are not removed keep theirs to themselves.
DROP INDEX users_email;
CREATE UNIQUE INDEX users_email ON users (organization_id, email_key) WHERE status <> 'removed';
CREATE INDEX users_any_email ON users (organization_id, email_key, status);

CREATE TABLE scim_users (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id TEXT NOT NULL REFERENCES users (id),
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  external_id TEXT,
  user_name TEXT NOT NULL,
  user_name_key TEXT NOT NULL,
  display_name_key TEXT,
  family_name_key TEXT,
  given_name_key TEXT,
  active INTEGER NOT NULL,
  display TEXT,
  label TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  doc TEXT NOT NULL,
  doc_key TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX scim_users_account ON scim_users (account_id);
CREATE UNIQUE INDEX scim_users_user_name ON scim_users (organization_id, user_name_key);
CREATE UNIQUE INDEX scim_users_external_id ON scim_users (organization_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX scim_users_sequence ON scim_users (organization_id, sequence);
CREATE INDEX scim_users_display_name ON scim_users (organization_id, display_name_key);
CREATE INDEX scim_users_updated ON scim_users (organization_id, updated_at_ms);

CREATE TABLE scim_user_emails (
  user_id TEXT NOT NULL REFERENCES scim_users (account_id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  organization_id TEXT NOT NULL,
  value_key TEXT NOT NULL,
  type_key TEXT,
  is_primary INTEGER NOT NULL,
  PRIMARY KEY (user_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_user_emails_value ON scim_user_emails (organization_id, value_key, type_key);

CREATE TABLE scim_groups (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  external_id TEXT,
  display_name TEXT NOT NULL,
  display_name_key TEXT NOT NULL,
  member_count INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX scim_groups_id ON scim_groups (id);
CREATE UNIQUE INDEX scim_groups_display_name ON scim_groups (organization_id, display_name_key);
CREATE UNIQUE INDEX scim_groups_external_id ON scim_groups (organization_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX scim_groups_sequence ON scim_groups (organization_id, sequence);
CREATE INDEX scim_groups_updated ON scim_groups (organization_id, updated_at_ms);

CREATE TABLE scim_group_members (
  group_id TEXT NOT NULL REFERENCES scim_groups (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES scim_users (account_id) ON DELETE CASCADE,
  PRIMARY KEY (group_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_group_members_user ON scim_group_members (user_id, group_id);

CREATE TABLE scim_tokens (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  label TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  prefix TEXT NOT NULL,
  profile TEXT NOT NULL CONSTRAINT scim_tokens_profile CHECK (profile IN ('standard', 'entra')),
  created_by TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  last_used_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX scim_tokens_hash ON scim_tokens (token_hash);
CREATE UNIQUE INDEX scim_tokens_label ON scim_tokens (organization_id, label) WHERE revoked_at_ms IS NULL;

-- The last requests that were refused for what is in them; the service keeps few.
CREATE TABLE scim_refusals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  at_ms INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  actor TEXT NOT NULL,
  method TEXT NOT NULL,
  route TEXT NOT NULL,
  status INTEGER NOT NULL,
  scim_type TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;

-- The digest of the role mapping that the stored roles follow.
CREATE TABLE scim_state (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  role_mapping_digest TEXT NOT NULL
) STRICT;
