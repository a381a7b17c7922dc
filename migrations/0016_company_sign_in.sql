-- Sign-in at the identity provider (OpenID Connect). A person at a provider is the pair of issuer and subject, both exact and
-- case-sensitive. `linked_by` says how the link came about: external_id, email, invitation, password, sign_up, operator.
CREATE TABLE user_identities (
  user_id TEXT NOT NULL REFERENCES users (id),
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  linked_by TEXT NOT NULL,
  linked_at_ms INTEGER NOT NULL,
  last_sign_in_at_ms INTEGER,
  PRIMARY KEY (user_id, issuer)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX user_identities_subject ON user_identities (issuer, subject);

-- What was last learned from and about each provider, for the time in which it cannot be reached and for other processes.
CREATE TABLE identity_providers (
  issuer TEXT PRIMARY KEY,
  metadata TEXT,
  metadata_at_ms INTEGER,
  last_error_reason TEXT,
  last_error_at_ms INTEGER,
  last_success_at_ms INTEGER
) STRICT, WITHOUT ROWID;

-- Logout tokens that were used, until they expire: each is valid once.
CREATE TABLE logout_tokens (
  issuer TEXT NOT NULL,
  token_id TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  PRIMARY KEY (issuer, token_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX logout_tokens_expiry ON logout_tokens (expires_at_ms);

-- How each browser signed in. The provider's session id (`sid`) is what a back-channel logout names.
ALTER TABLE login_sessions ADD COLUMN method TEXT NOT NULL DEFAULT 'password' CONSTRAINT login_sessions_method CHECK (method IN ('password', 'oidc'));
ALTER TABLE login_sessions ADD COLUMN issuer TEXT;
ALTER TABLE login_sessions ADD COLUMN provider_session_id TEXT;
ALTER TABLE login_sessions ADD COLUMN auth_time_ms INTEGER;
ALTER TABLE login_sessions ADD COLUMN acr TEXT;
CREATE INDEX login_sessions_provider ON login_sessions (issuer, provider_session_id) WHERE provider_session_id IS NOT NULL;
