-- Foundation: organisation, people, logins, keys, catalog, audit, jobs.
-- Times are UTC milliseconds. Credentials are stored as SHA-256 (`*_hash`); `email_key` is the folded address.

CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  subject TEXT NOT NULL,
  email TEXT NOT NULL,
  email_key TEXT NOT NULL,
  role TEXT NOT NULL CONSTRAINT users_role CHECK (role IN ('admin', 'member')),
  status TEXT NOT NULL CONSTRAINT users_status CHECK (status IN ('active', 'suspended', 'removed')),
  protected INTEGER NOT NULL DEFAULT 0,
  provisioning_source TEXT NOT NULL DEFAULT 'local' CONSTRAINT users_source CHECK (provisioning_source IN ('local', 'scim')),
  password_hash TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX users_email ON users (organization_id, email_key);
CREATE UNIQUE INDEX users_subject ON users (organization_id, subject);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  email TEXT NOT NULL,
  email_key TEXT NOT NULL,
  role TEXT NOT NULL CONSTRAINT invitations_role CHECK (role IN ('admin', 'member')),
  status TEXT NOT NULL CONSTRAINT invitations_status CHECK (status IN ('pending', 'accepted', 'canceled')),
  token_hash TEXT NOT NULL,
  inviter_id TEXT REFERENCES users (id),
  expires_at_ms INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX invitations_token ON invitations (token_hash);
CREATE UNIQUE INDEX invitations_pending ON invitations (organization_id, email_key) WHERE status = 'pending';
CREATE INDEX invitations_created ON invitations (organization_id, created_at_ms);

CREATE TABLE login_sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  token_hash TEXT NOT NULL,
  address TEXT,
  user_agent TEXT,
  created_at_ms INTEGER NOT NULL,
  renewed_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX login_sessions_token ON login_sessions (token_hash);
CREATE INDEX login_sessions_user ON login_sessions (user_id);
CREATE INDEX login_sessions_expiry ON login_sessions (expires_at_ms);

-- A device code begins with the id, and the link token yields the user code: one index finds a login by any of its secrets,
-- and new rows go to the end of the table.
CREATE TABLE device_logins (
  id TEXT PRIMARY KEY,
  device_code_hash TEXT NOT NULL,
  user_code_hash TEXT NOT NULL,
  link_hash TEXT NOT NULL,
  client_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  resource TEXT,
  address TEXT,
  state TEXT NOT NULL CONSTRAINT device_logins_state CHECK (state IN ('pending', 'approved', 'refused', 'redeemed')),
  user_id TEXT REFERENCES users (id),
  login_session_id TEXT REFERENCES login_sessions (id),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  decided_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX device_logins_user_code ON device_logins (user_code_hash);
CREATE INDEX device_logins_user ON device_logins (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX device_logins_session ON device_logins (login_session_id) WHERE login_session_id IS NOT NULL;
CREATE INDEX device_logins_state ON device_logins (state, expires_at_ms);

-- A grant is what one redeemed device login gave to one workstation; its refresh tokens are one family and begin with the
-- family's secret. A token of a known family that has no row is a former one, so former ones need not be kept.
CREATE TABLE grants (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  login_session_id TEXT NOT NULL REFERENCES login_sessions (id),
  family_hash TEXT,
  client_id TEXT NOT NULL,
  scope TEXT NOT NULL,
  resource TEXT NOT NULL,
  address TEXT,
  created_at_ms INTEGER NOT NULL,
  refreshed_at_ms INTEGER NOT NULL,
  rotations INTEGER NOT NULL DEFAULT 0,
  expires_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER,
  revoked_reason TEXT
) STRICT;
CREATE UNIQUE INDEX grants_family ON grants (family_hash);
CREATE INDEX grants_user ON grants (user_id);
CREATE INDEX grants_session ON grants (login_session_id);
CREATE INDEX grants_expiry ON grants (expires_at_ms);

CREATE TABLE refresh_tokens (
  grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  rotated_at_ms INTEGER,
  successors INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (grant_id, token_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX refresh_tokens_rotated ON refresh_tokens (rotated_at_ms) WHERE rotated_at_ms IS NOT NULL;

CREATE TABLE signing_keys (
  kid TEXT PRIMARY KEY,
  algorithm TEXT NOT NULL,
  public_jwk TEXT NOT NULL,
  sealed_private_key TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  retired_at_ms INTEGER,
  verifies_until_ms INTEGER
) STRICT;

CREATE TABLE budgets (
  name TEXT NOT NULL,
  subject TEXT NOT NULL,
  used INTEGER NOT NULL,
  resets_at_ms INTEGER NOT NULL,
  PRIMARY KEY (name, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX budgets_reset ON budgets (resets_at_ms);

CREATE TABLE branding (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  logo_url TEXT,
  favicon_url TEXT
) STRICT;

CREATE TABLE catalog_packages (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  position INTEGER NOT NULL,
  version TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  entry TEXT NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  expanded_bytes INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX artifacts_digest ON artifacts (organization_id, sha256);

CREATE TABLE audit_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  organization_id TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_label TEXT NOT NULL,
  address TEXT,
  request_id TEXT,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  before TEXT,
  after TEXT,
  previous_digest TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;
CREATE INDEX audit_entries_action ON audit_entries (action, at_ms);

CREATE TABLE jobs (
  name TEXT PRIMARY KEY,
  next_run_at_ms INTEGER NOT NULL,
  lease_owner TEXT,
  lease_until_ms INTEGER,
  last_started_at_ms INTEGER,
  last_finished_at_ms INTEGER,
  last_outcome TEXT,
  last_error TEXT,
  paused INTEGER NOT NULL DEFAULT 0
) STRICT;
