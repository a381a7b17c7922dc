// Thousands of users, workstations and invitations, inserted directly into the database: for tests that only read them.
import type { Database } from "bun:sqlite";

const ROWS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $count)";
/** the order of the addresses differs from the order of insertion */
const ADDRESS = "printf('user-%06d@example.com', n * 7919 % 1000003)";
const ID = "printf('01940000-0000-7000-8000-%012d', n)";
const ORGANIZATION = "(SELECT id FROM organizations)";

const INSERTS = [
  `INSERT INTO users (id, organization_id, subject, email, email_key, role, status, created_at_ms, updated_at_ms)
   ${ROWS} SELECT ${ID}, ${ORGANIZATION}, ${ID}, ${ADDRESS}, ${ADDRESS}, 'member', 'active', 0, 0 FROM numbers`,
  `INSERT INTO client_reports (
     id, organization_id, user_id, instance_id, login_session_id, hostname, client_version, platform, applied, files_ok,
     verdict, judged_by, harness_names, first_seen_at_ms, last_seen_at_ms, reasons, harnesses, packages
   )
   ${ROWS} SELECT ${ID}, ${ORGANIZATION}, ${ID}, printf('instance-%d', n), 'none', printf('host-%d', n), '1.0.0', 'linux', 1, 1,
     'matches', 'test', '["claude"]', 0, $nowMs - n / 2, '[]', '[]', '[]' FROM numbers`,
  `INSERT INTO invitations (id, organization_id, email, email_key, role, status, token_hash, inviter_id, expires_at_ms, created_at_ms)
   ${ROWS} SELECT ${ID}, ${ORGANIZATION}, 'new-' || ${ADDRESS}, 'new-' || ${ADDRESS}, 'member', 'pending', ${ID}, ${ID}, $nowMs, n / 2
   FROM numbers`,
];

/** Adds this many of each; each user has one workstation and has sent one invitation. */
export function addManyRows(connection: Database, { count, nowMs }: { count: number; nowMs: number }): void {
  connection.transaction(() => {
    for (const sql of INSERTS)
      connection.query(sql).run(sql.includes("$nowMs") ? { count, nowMs } : { count });
  })();
}
