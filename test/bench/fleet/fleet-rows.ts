// Inserts a large fleet directly into the database of a data directory: users with one or more signed-in workstations each, all of
// which have reported. The first workstation is created through the domain (workstations.ts). All others are copies of its rows,
// because creating a million through the domain would take longer than the measurement. Their tokens are signed with the
// installation's key.
import type { Database } from "bun:sqlite";
import { decodeJwt } from "jose";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { OAUTH_CLIENT_ID, USER_SCOPES } from "../../../src/domain/access/wire.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { clientReport, type Policy } from "../clients/client-report.ts";
import { workstationAt } from "./fleet-requests.ts";
import { enrol } from "./workstations.ts";

/** Workstations of one transaction. */
const AT_ONCE = 20_000;
/** more than the file has: all its pages stay in memory until it is complete */
const CACHE_KIB = 4 * 1024 * 1024;

type Value = string | number | null;
type Row = Record<string, Value>;

export interface Fleet {
  count: number;
  /** workstations of each user; 1 by default */
  perUser?: number;
  policy: Policy;
  /** this many report in turn, each once in ROUND_MS: their last reports are one round old, in that order */
  round: number;
  /** file that receives the access token of each workstation, one per line */
  tokens: string;
}

/** Adds the workstations to the database of an installation that no other process has open. */
export async function writeFleet(installation: ExistingInstallation, fleet: Fleet): Promise<void> {
  const [[first = ""] = []] = await Array.fromAsync(enrol(installation, { count: 1, policy: fleet.policy }));
  const writer = Bun.file(fleet.tokens).writer();
  writer.write(`${first}\n`);
  const connection = openConnection(installation.directory.database, { pageCacheKib: CACHE_KIB });
  connection.run("PRAGMA synchronous=OFF");
  try {
    const add = rowsLike(connection, installation, {
      grantId: String(decodeJwt(first).grant_id),
      seenAtMs: lastReports(fleet.round),
      perUser: fleet.perUser ?? 1,
    });
    for (let at = 1; at < fleet.count; at += AT_ONCE) {
      const end = Math.min(fleet.count, at + AT_ONCE);
      connection.transaction(() => {
        for (let workstation = at; workstation < end; workstation++)
          writer.write(`${add(workstation, fleet.policy)}\n`);
      })();
      await writer.flush();
    }
    connection.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    connection.close();
    await writer.end();
  }
}

/** @returns a function that adds a workstation and returns its token */
function rowsLike(
  connection: Database,
  { domain, organizationId }: ExistingInstallation,
  { grantId, seenAtMs, perUser }: { grantId: string; seenAtMs(workstation: number): number; perUser: number },
) {
  const found = (table: string, column: string, value: Value) => {
    const columns = columnsOf(connection, table);
    const query = `SELECT ${columns.join(", ")} FROM ${table} WHERE ${column} = ?`;
    const row = connection.query<Row, [Value]>(query).get(value);
    if (!row) throw new Error(`the first workstation has no row in ${table}`);
    return { row, insert: inserter(connection, table, columns) };
  };
  const grant = found("grants", "id", grantId);
  const user = found("users", "id", grant.row.user_id ?? null);
  const session = found("login_sessions", "id", grant.row.login_session_id ?? null);
  const report = found("client_reports", "grant_id", grantId);
  const scope = USER_SCOPES.join(" ");
  const resource = domain.access.settings.baseUrl();
  let [userId, email] = ["", ""];
  return (workstation: number, policy: Policy): string => {
    const [sid, id] = [systemIds.uuid(), systemIds.uuid()];
    if (userId === "" || workstation % perUser === 0) {
      [userId, email] = [systemIds.uuid(), `worker-${workstation}@example.com`];
      user.insert({ ...user.row, id: userId, subject: userId, email, email_key: email, workstations: 0 });
    }
    const owner = { user_id: userId, login_session_id: sid };
    session.insert({ ...session.row, id: sid, user_id: userId, token_hash: sid });
    grant.insert({ ...grant.row, ...owner, id });
    const { instance_id, hostname } = clientReport(workstation, policy);
    report.insert({
      ...report.row,
      ...owner,
      id: systemIds.uuid(),
      grant_id: id,
      instance_id,
      hostname,
      last_seen_at_ms: seenAtMs(workstation),
    });
    return domain.access.tokens.mint({
      user: { subject: userId, email, organizationId, role: "member" },
      grant: { id, clientId: OAUTH_CLIENT_ID, resource },
      scope,
      sid,
      issuedAtMs: Date.now(),
    }).accessToken;
  };
}

const ROUND_MS = 300_000;

/** @returns the time of each workstation's last report: one round ago, in the order of its turns */
function lastReports(round: number): (workstation: number) => number {
  const turns = new Uint32Array(round);
  for (let turn = 0; turn < round; turn++) turns[workstationAt(turn, round)] = turn;
  const beganMs = Date.now() - 2 * ROUND_MS;
  return (workstation) => beganMs + Math.floor(((turns[workstation] ?? 0) * ROUND_MS) / round);
}

/** @returns stored columns, without those that SQLite computes */
const columnsOf = (connection: Database, table: string): string[] =>
  connection
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => name);

function inserter(connection: Database, table: string, columns: readonly string[]): (row: Row) => void {
  const values = columns.map((column) => `$${column}`).join(", ");
  const insert = connection.prepare<unknown, [Row]>(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${values})`,
  );
  return (row) => void insert.run(row);
}
