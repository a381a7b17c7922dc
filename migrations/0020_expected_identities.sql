-- Users who are expected at a provider that replaces another: the first sign-in there with the verified address of such a user is
-- linked without a further proof, because an operator asked for it.
CREATE TABLE expected_identities (
  user_id TEXT NOT NULL REFERENCES users (id),
  issuer TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  PRIMARY KEY (user_id, issuer)
) STRICT, WITHOUT ROWID;
CREATE INDEX expected_identities_expiry ON expected_identities (expires_at_ms);
