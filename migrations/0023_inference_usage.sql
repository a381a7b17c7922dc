-- Daily sums of inference usage per user, model and agent. Empty text stands for unknown, and for an erased user. Sums outlive a
-- user, so the user is no reference.
CREATE TABLE inference_usage (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  day INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  model TEXT NOT NULL,
  harness TEXT NOT NULL,
  requests INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost REAL NOT NULL,
  PRIMARY KEY (organization_id, day, user_id, model, harness)
) STRICT, WITHOUT ROWID;
CREATE INDEX inference_usage_user ON inference_usage (user_id, day);
