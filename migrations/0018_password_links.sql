-- One-time links with which a user sets a new password: at most one for each user. `token_hash` is the SHA-256 of the secret in the
-- link. `creator_id` is the administrator who made it, and NULL for the operator.
CREATE TABLE password_links (
  user_id TEXT PRIMARY KEY REFERENCES users (id),
  token_hash TEXT NOT NULL,
  creator_id TEXT REFERENCES users (id),
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX password_links_token ON password_links (token_hash);
CREATE INDEX password_links_creator ON password_links (creator_id) WHERE creator_id IS NOT NULL;
CREATE INDEX password_links_expiry ON password_links (expires_at_ms);
