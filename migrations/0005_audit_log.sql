-- Reading the audit log: one index for each filter, newest first within it.
DROP INDEX audit_entries_action;
CREATE INDEX audit_entries_newest ON audit_entries (organization_id, at_ms);
CREATE INDEX audit_entries_action ON audit_entries (organization_id, action, at_ms);
CREATE INDEX audit_entries_target ON audit_entries (organization_id, target, at_ms);
CREATE INDEX audit_entries_actor ON audit_entries (organization_id, actor_id, at_ms);
CREATE INDEX audit_entries_actor_label ON audit_entries (organization_id, actor_label COLLATE NOCASE, at_ms);
