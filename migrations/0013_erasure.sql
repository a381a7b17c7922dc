-- Entries of the audit log whose personal data was replaced: each keeps its place and digest in the chain, and names the entry
-- of the erasure, which vouches for what it says since then. A row here holds the digest of that content.
ALTER TABLE audit_entries ADD COLUMN redacted_by INTEGER;
CREATE TABLE audit_redactions (
  entry_id INTEGER NOT NULL,
  erasure_id INTEGER NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (entry_id, erasure_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_redactions_erasure ON audit_redactions (erasure_id, entry_id);
