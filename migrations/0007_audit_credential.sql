-- By which credential an actor came in, told by its public id. Entries from before have none, and keep their digests.
ALTER TABLE audit_entries ADD COLUMN credential TEXT;
