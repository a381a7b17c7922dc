-- Answers to requests with an Idempotency-Key, kept for as long as a repetition gets the same one. The answer is sealed: it may
-- hold a secret that was shown once. The id is a digest of caller and key.
CREATE TABLE idempotent_answers (
  id TEXT PRIMARY KEY,
  caller_id TEXT NOT NULL REFERENCES users (id),
  request_digest TEXT NOT NULL,
  sealed_answer TEXT NOT NULL,
  expires_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotent_answers_caller ON idempotent_answers (caller_id, expires_at_ms);
CREATE INDEX idempotent_answers_expiry ON idempotent_answers (expires_at_ms);
