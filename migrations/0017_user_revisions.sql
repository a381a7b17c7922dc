-- The version of a provisioned user and the time of its last change, which also change with its groups. Beside the documents, a
-- change of a group with 50,000 members rewrote nearly every page of the table of users.
CREATE TABLE scim_user_revisions (
  sequence INTEGER PRIMARY KEY REFERENCES scim_users (sequence) ON DELETE CASCADE,
  organization_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO scim_user_revisions (sequence, organization_id, version, updated_at_ms)
SELECT sequence, organization_id, version, updated_at_ms FROM scim_users ORDER BY sequence;
CREATE INDEX scim_user_revisions_updated ON scim_user_revisions (organization_id, updated_at_ms);

DROP INDEX scim_users_updated;
ALTER TABLE scim_users DROP COLUMN version;
ALTER TABLE scim_users DROP COLUMN updated_at_ms;
