// Inserts groups of the identity provider for the users of the seed directly into the database: 200 groups that share all users
// evenly, and one with all users.
import { openConnection } from "../../../src/platform/database/connection.ts";

const GROUPS = 200;
/** sequence of the group with all users */
const EVERYBODY = GROUPS + 1;

const ORGANIZATION = "(SELECT id FROM organizations)";
const STATEMENTS = [
  `INSERT INTO scim_users (account_id, organization_id, user_name, user_name_key, active, label, created_at_ms, doc, doc_key)
   SELECT id, organization_id, email, email_key, 1, email, 0, '{}', '{}' FROM users WHERE role = 'member'`,
  "INSERT OR IGNORE INTO scim_organizations (organization_id) SELECT id FROM organizations",
  "INSERT INTO scim_user_revisions SELECT sequence, number, 1, 0 FROM scim_users, scim_organizations",
  `INSERT INTO scim_groups
   WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${EVERYBODY})
   SELECT n, printf('01940000-0000-7000-8000-%012d', n), ${ORGANIZATION}, NULL, printf('Team %d', n), printf('team %d', n), 0, 1, 0, 0
   FROM numbers`,
  `INSERT INTO scim_group_members SELECT sequence % ${GROUPS} + 1, sequence FROM scim_users ORDER BY 1, 2`,
  `INSERT INTO scim_group_members SELECT ${EVERYBODY}, sequence FROM scim_users`,
  `UPDATE scim_groups SET member_count = (SELECT count(*) FROM scim_group_members WHERE group_sequence = scim_groups.sequence)`,
];

/** Adds the groups to the database of an installation that no other process has open. */
export function writeGroups(file: string): void {
  using connection = openConnection(file, {});
  connection.transaction(() => {
    for (const statement of STATEMENTS) connection.run(statement);
  })();
}

/** Names in the form of a filter's value. */
export const GROUP_NAMES = { small: "Team 7", everybody: `Team ${EVERYBODY}` } as const;
