// A service with many captured sessions of twenty users, for benchmarks of lists.
import { sql } from "drizzle-orm";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { SESSION_COOKIE } from "../../../src/domain/access/wire.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import type { Tx } from "../../../src/platform/database/database.ts";
import { quartermaster, startServer } from "../processes.ts";
import { addUsers, administratorOf, logIn, openBeside, startQuartermaster } from "../tools/installation.ts";

export const MANY = 100_000;
const USERS = 20;
/** the default retention */
const DAYS = 30;
const BATCH_ROWS = 2_000;

export interface ListSite extends AsyncDisposable {
  origin: string;
  sessions: number;
  tokens: Readonly<Record<"administrator" | "member", string>>;
  /** values of the header `Cookie` of the same users */
  cookies: ListSite["tokens"];
  ownerId: string;
}

/** @param sessions number of sessions @param env of the service */
export async function startListSite(
  directory: string,
  sessions: number,
  env: Readonly<Record<string, string>> = {},
): Promise<ListSite> {
  const members = await fill(directory, sessions);
  await using starting = new AsyncDisposableStack();
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const serve = quartermaster("serve", "--data-dir", directory, "--server-listen", "127.0.0.1:0");
  const service = await startServer(["env", ...variables, ...serve]);
  starting.defer(service.stop);
  const installation = await openBeside(directory, service.port);
  const [asAdministrator] = await logIn(installation, 1);
  const [asMember] = await logIn(installation, 1, members[0]);
  const cookieOf = async (userId: string): Promise<string> => {
    const visit = { address: null, userAgent: null };
    const open = (tx: Tx) => installation.domain.access.sessions.open(tx, userId, visit);
    return `${SESSION_COOKIE}=${(await installation.db.write(open, "access")).token}`;
  };
  const cookies = {
    administrator: await cookieOf(administratorOf(installation).id),
    member: await cookieOf(members[0]?.id ?? ""),
  };
  await installation.close();
  const started = starting.move();
  return {
    origin: `http://127.0.0.1:${service.port}`,
    sessions,
    ownerId: members[1]?.id ?? "",
    cookies,
    tokens: {
      administrator: asAdministrator?.access_token ?? "",
      member: asMember?.access_token ?? "",
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** Fills a directory while no service runs on it, because a service that indexes the texts would hold the write lock too long. */
async function fill(directory: string, sessions: number) {
  const service = await startQuartermaster(directory);
  await service.stop();
  const installation = await openBeside(directory, service.port);
  const { organizationId, domain } = installation;
  const operator = { kind: "operator", id: null, label: "bench", organizationId } as const;
  const members = await addUsers(installation, operator, USERS);
  const users = members.map(({ id }) => id);
  for (let from = 0; from < sessions; from += BATCH_ROWS)
    await addSessions(installation, { users, from, to: Math.min(sessions, from + BATCH_ROWS) });
  await domain.sessions.searchIndex.add(new AbortController().signal);
  await installation.close();
  return members;
}

interface Batch {
  users: readonly string[];
  from: number;
  to: number;
}

/**
 * Sessions spread over the days of the retention: a tenth is shared with everybody, a tenth with the first user, half are portable,
 * a third are of another harness, few of a rare one, and a tenth have an old version.
 */
async function addSessions({ db, organizationId }: ExistingInstallation, { users, from, to }: Batch) {
  const nowMs = Date.now();
  const stepMs = (DAYS * DAY_MS) / MANY;
  const uuid = (kind: string) => sql.raw(`printf('0190000${kind}-0000-7000-8000-%012x', i)`);
  const numbers = sql`WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${to})`;
  const owner = sql`(SELECT value FROM json_each(${JSON.stringify(users)}) WHERE key = i / 10 % ${USERS})`;
  const spread = sql`${nowMs} - CAST(i * 7919 % ${MANY} * ${stepMs} AS INTEGER)`;
  const harness = sql`CASE WHEN i % 500 = 3 THEN 'kimi' WHEN i % 3 = 0 THEN 'claude' ELSE 'codex' END`;
  const artifacts = (kind: string, status: string, where: string) => sql`
    INSERT INTO session_artifacts (id, organization_id, user_id, session_id, sha256, size_bytes, content_type, artifact_format,
      resumable, status, store, place, created_at_ms, window_ends_at_ms, stored_at_ms, completed_at_ms, expires_at_ms)
    ${numbers} SELECT ${uuid(kind)}, ${organizationId}, ${owner}, ${uuid("0")}, printf('%064x', i), 1000, 'application/gzip',
      'blue-session-bundle-v1', i % 2, ${sql.raw(`'${status}'`)}, 'local', printf('%064x', i), ${nowMs}, ${nowMs}, ${nowMs}, ${nowMs},
      ${nowMs + DAYS * DAY_MS}
    FROM n WHERE ${sql.raw(where)}`;
  await db.write((tx) => {
    tx.run(sql`
      INSERT INTO captured_sessions (id, organization_id, user_id, harness, profile, native_session_id, artifact_format, resumable,
        cwd, title, summary, search_text, sharing_mode, created_at_ms, updated_at_ms)
      ${numbers} SELECT ${uuid("0")}, ${organizationId}, ${owner},
        ${harness}, 'legacy', 'native-' || i,
        'blue-session-bundle-v1', i % 2, '/home/user/project' || (i % 1000), 'needle ' || i || ' end', hex(randomblob(80)),
        'native-' || i || char(10) || '/home/user/project' || (i % 1000) || char(10) || 'needle ' || i || ' end' || char(10)
          || lower(hex(randomblob(80))),
        CASE i % 10 WHEN 0 THEN 'workspace' WHEN 1 THEN 'selected' ELSE 'private' END, ${nowMs}, ${spread}
      FROM n`);
    tx.run(artifacts("1", "complete", "TRUE"));
    tx.run(artifacts("2", "superseded", "i % 10 = 5"));
    tx.run(sql`${numbers} INSERT INTO session_grants SELECT ${uuid("0")}, ${users[0]}, ${spread}, ${harness}
      FROM n WHERE i % 10 = 1 AND ${owner} <> ${users[0]}`);
    tx.run(
      sql`${numbers} UPDATE captured_sessions SET current_artifact_id = ${uuid("1")} FROM n WHERE id = ${uuid("0")}`,
    );
  });
}
