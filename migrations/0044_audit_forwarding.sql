-- How far the audit log was sent to its receiver: the last entry that it took, and why it takes no more. One row at most.
CREATE TABLE audit_forwarding (
  id INTEGER PRIMARY KEY CONSTRAINT audit_forwarding_one CHECK (id = 1),
  entry_id INTEGER NOT NULL,
  delivered_at_ms INTEGER,
  failing_since_ms INTEGER,
  error TEXT
) STRICT;
