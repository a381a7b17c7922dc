-- Memberships by the numbers of group and user instead of their ids of 36 characters: a new group of 50,000 members wrote thousands
-- of pages of its two indexes. A user's revision is the narrow row of the user, so that the check of the reference reads few pages.
CREATE TABLE scim_memberships (
  group_sequence INTEGER NOT NULL REFERENCES scim_groups (sequence) ON DELETE CASCADE,
  user_sequence INTEGER NOT NULL REFERENCES scim_user_revisions (sequence) ON DELETE CASCADE,
  PRIMARY KEY (group_sequence, user_sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO scim_memberships (group_sequence, user_sequence)
SELECT scim_groups.sequence, scim_users.sequence
FROM scim_group_members
JOIN scim_groups ON scim_groups.id = scim_group_members.group_id
JOIN scim_users ON scim_users.account_id = scim_group_members.user_id
ORDER BY scim_groups.sequence, scim_users.sequence;

DROP TABLE scim_group_members;
ALTER TABLE scim_memberships RENAME TO scim_group_members;
CREATE INDEX scim_group_members_user ON scim_group_members (user_sequence, group_sequence);
