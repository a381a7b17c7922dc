-- A second factor beside the password. The secret of an authenticator app is sealed. `last_step` is the newest step of 30 seconds
-- whose code was accepted, so that each code counts once. A passkey is public. Recovery codes are random and stored hashed.
CREATE TABLE authenticator_apps (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  sealed_secret TEXT NOT NULL,
  last_step INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  used_at_ms INTEGER
) STRICT;

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  credential_id TEXT NOT NULL,
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  used_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id);
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id),
  code_hash TEXT NOT NULL,
  PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

-- A sign-in whose password was right and whose second factor is still missing. It gives no access.
CREATE TABLE sign_in_attempts (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id),
  token_hash TEXT NOT NULL,
  user_updated_at_ms INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sign_in_attempts_token ON sign_in_attempts (token_hash);
CREATE INDEX sign_in_attempts_user ON sign_in_attempts (user_id);
CREATE INDEX sign_in_attempts_expiry ON sign_in_attempts (expires_at_ms);

-- Passkey challenges that were answered, until they expire: each counts once.
CREATE TABLE spent_challenges (
  challenge_hash TEXT PRIMARY KEY,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_challenges_expiry ON spent_challenges (expires_at_ms);

-- When the person last proved in this browser who is there: password or second factor.
ALTER TABLE login_sessions ADD COLUMN confirmed_at_ms INTEGER;
