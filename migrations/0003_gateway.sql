-- Managed gateway keys: one per user, its upstream twin's name, and what is to be revoked upstream. Secrets are sealed.

CREATE TABLE gateway_keys (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  state TEXT NOT NULL CONSTRAINT gateway_keys_state CHECK (state IN ('ready', 'error', 'invalid', 'recovering')),
  email TEXT NOT NULL,
  external_id TEXT,
  alias TEXT,
  metadata TEXT,
  configuration_digest TEXT,
  credential_version TEXT NOT NULL,
  sealed_credential TEXT,
  sealing_key_id TEXT,
  expires_at_ms INTEGER,
  invalidated_at_ms INTEGER,
  invalidation_reason TEXT,
  problem_code TEXT,
  problem TEXT,
  failures INTEGER NOT NULL,
  replacements INTEGER NOT NULL,
  replacements_since_ms INTEGER,
  next_attempt_at_ms INTEGER,
  recovering_until_ms INTEGER,
  leftovers INTEGER NOT NULL,
  reconciled_at_ms INTEGER,
  validated_at_ms INTEGER,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX gateway_keys_due ON gateway_keys (next_attempt_at_ms) WHERE next_attempt_at_ms IS NOT NULL;
CREATE INDEX gateway_keys_list ON gateway_keys (organization_id, state, user_id);
CREATE INDEX gateway_keys_sealing ON gateway_keys (sealing_key_id) WHERE sealing_key_id IS NOT NULL;

-- What must still be taken away upstream. Without an external id it is whatever an attempt that was cut short may have made.
CREATE TABLE gateway_revocations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL,
  email TEXT NOT NULL,
  external_id TEXT,
  reason TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at_ms INTEGER NOT NULL,
  problem TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX gateway_revocations_external_id ON gateway_revocations (external_id) WHERE external_id IS NOT NULL;
CREATE INDEX gateway_revocations_due ON gateway_revocations (next_attempt_at_ms);

-- What one grant may use the gateway with: an inference token names the row by its id.
CREATE TABLE gateway_sessions (
  id TEXT PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
  login_session_id TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at_ms INTEGER NOT NULL,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX gateway_sessions_grant ON gateway_sessions (grant_id);
CREATE INDEX gateway_sessions_login_session ON gateway_sessions (login_session_id);

-- Keys that sign inference tokens.
CREATE TABLE gateway_signing_keys (
  kid TEXT PRIMARY KEY,
  algorithm TEXT NOT NULL,
  public_jwk TEXT NOT NULL,
  sealed_private_key TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  retired_at_ms INTEGER,
  verifies_until_ms INTEGER
) STRICT;
