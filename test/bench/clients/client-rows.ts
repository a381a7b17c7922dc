// Inserts rows of the inventory directly into the database: a fleet of a million workstations would take hours to report. Only the
// number and size of the rows matter here; clients.ts sends real reports.
import type { Database } from "bun:sqlite";

const CHUNK = 50_000;
/** size of a row with its keys and empty reasons */
const ROW_BYTES = 300;

const INSERT = `INSERT INTO client_reports (
    id, organization_id, user_id, instance_id, login_session_id, hostname, client_version, platform, applied, files_ok,
    verdict, judged_by, harness_names, first_seen_at_ms, last_seen_at_ms, reasons, harnesses, packages
  )
  WITH RECURSIVE numbers (n) AS (SELECT $from UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < $to)
  SELECT printf('01940000-0000-7000-8000-%012d', n), u.organization_id, u.id, printf('bench-%012d', n), 'bench',
    printf('workstation-%d', n), '1.4.2', 'linux', 1, 1, 'matches', 'bench', '["claude"]', $now - n, $now - n, '[]',
    hex(randomblob($half)), '[]'
  FROM numbers, (SELECT id, organization_id FROM users LIMIT 1) AS u`;

/** Adds clients of the first user, each of about this size. */
export function addClientRows(
  connection: Database,
  { count, bytesEach }: { count: number; bytesEach: number },
): void {
  const insert = connection.prepare(INSERT);
  const now = Date.now(); // the service removes workstations that were not seen for a year
  const half = Math.max(1, Math.floor((bytesEach - ROW_BYTES) / 2));
  for (let from = 0; from < count; from += CHUNK)
    insert.run({ from, to: Math.min(from + CHUNK, count), half, now });
  insert.finalize();
}
