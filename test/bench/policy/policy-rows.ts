// Makes a fleet uneven, directly in the database: versions of harnesses and clients, refusals, and the samples of a rollout of 30
// days.
import { openConnection } from "../../../src/platform/database/connection.ts";

const NUMBER = "CAST(substr(instance_id, -12) AS INTEGER)";
const STATEMENTS = [
  `UPDATE client_reports SET client_version = printf('1.%d.2', ${NUMBER} % 20),
     harness_versions = printf('[["claude","2.0.%d"],["codex","0.%d.0"]]', 12 + ${NUMBER} % 300, 40 + ${NUMBER} % 40)`,
  `UPDATE client_reports SET verdict = 'differs', reasons = printf('["claude: settings.json line %d cannot be written"]', ${NUMBER} % 200)
     WHERE ${NUMBER} % 20 = 7`,
  `INSERT INTO rollout_samples
   WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2136)
   SELECT organization_id, id, (unixepoch() - 60 * n) * 1000, 100000 - 40 * n, 40 * n, 0
   FROM numbers, (SELECT organization_id, id FROM governance_revisions ORDER BY sequence DESC LIMIT 1)`,
];

/** Changes the database of an installation that no other process has open. */
export function spreadFleet(file: string): void {
  using connection = openConnection(file, {});
  connection.transaction(() => {
    for (const statement of STATEMENTS) connection.run(statement);
  })();
}
