-- A refresh token has one successor now, so nothing counts them any more.
ALTER TABLE refresh_tokens DROP COLUMN successors;
