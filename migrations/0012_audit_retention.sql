-- Where the audit log begins since retention removed its oldest entries: the last of them that was removed, one row at most.
CREATE TABLE audit_checkpoint (
  id INTEGER PRIMARY KEY CONSTRAINT audit_checkpoint_one CHECK (id = 1),
  entry_id INTEGER NOT NULL,
  digest TEXT NOT NULL,
  removed INTEGER NOT NULL
) STRICT;
