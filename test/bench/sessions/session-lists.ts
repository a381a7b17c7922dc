// Lists of captured sessions among 100,000 beside those among 1,000, each mode and filter, as an administrator and a member ask.
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { atMost, type Figure } from "../figures.ts";
import { median } from "../tools/compare.ts";
import {
  addMembers,
  logIn,
  openBeside,
  startQuartermaster,
  temporaryDirectory,
} from "../tools/installation.ts";

const FEW = 1_000;
const MANY = 100_000;
const RATIO_MAX = 3;
const USERS = 20;
/** the default retention */
const DAYS = 30;
const BATCH_ROWS = 2_000;
const ROUNDS = 15;
const PER_PAGE = 25;

interface ListSite extends AsyncDisposable {
  origin: string;
  sessions: number;
  tokens: Readonly<Record<"administrator" | "member", string>>;
  ownerId: string;
}

/** Required: three times. A text that every session has is counted session by session. */
export async function measureSessionLists(): Promise<Figure[]> {
  using directory = temporaryDirectory();
  await using few = await startListSite(join(directory.path, "few"), FEW);
  await using many = await startListSite(join(directory.path, "many"), MANY);
  const figures: Figure[] = [];
  for (const caller of ["administrator", "member"] as const)
    for (const [what, queryOf] of Object.entries(LISTS)) {
      const asked = { caller, queryOf };
      const reference: number[] = [];
      const ours: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        reference.push(await timeOf(few, asked));
        ours.push(await timeOf(many, asked));
      }
      const ratio = median(ours) / median(reference);
      figures.push({
        ...{ what: `${what}, ${caller}, ${MANY} sessions`, unit: "ms", ours: median(ours) },
        ...{ reference: median(reference), ratio, verdict: atMost(RATIO_MAX, ratio) },
      });
    }
  return figures;
}

const TODAY = new Date().toISOString().slice(0, 10);

/** Below `/session-uploads`. */
const LISTS: Readonly<Record<string, (site: ListSite) => string>> = {
  "first page": () => "?page=1",
  "deep page": ({ sessions }) => `?page=${sessions / 5 / PER_PAGE}`,
  "oldest first": () => "?sort=updated_asc",
  "behind a cursor": () => "?limit=50",
  portable: () => "?resumable=true",
  "rare text": () => "?q=needle+777+end",
  "two characters": () => "?q=zq",
  "text of all": () => "?q=project",
  "frequent harness": () => "?harness=codex&page=1",
  "rare harness": () => "?harness=kimi&page=1",
  "range of days": () => `?updated_from=2020-01-01&updated_to=${TODAY}`,
  "one owner": ({ ownerId }) => `?page=1&user_id=${ownerId}`,
  "with an old version": () => "?page=1&status=superseded",
  "with a pending version": () => "?page=1&status=pending",
  facets: () => "/facets",
};

interface Asked {
  caller: keyof ListSite["tokens"];
  queryOf: (site: ListSite) => string;
}

async function timeOf(site: ListSite, { caller, queryOf }: Asked): Promise<number> {
  const begin = performance.now();
  const headers = { authorization: `Bearer ${site.tokens[caller]}` };
  const answer = await fetch(`${site.origin}/session-uploads${queryOf(site)}`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(text);
  return performance.now() - begin;
}

async function startListSite(directory: string, sessions: number): Promise<ListSite> {
  const members = await fill(directory, sessions);
  await using starting = new AsyncDisposableStack();
  const service = await startQuartermaster(directory);
  starting.defer(service.stop);
  const installation = await openBeside(directory, service.port);
  const [asAdministrator] = await logIn(installation, 1);
  const [asMember] = await logIn(installation, 1, members[0]);
  await installation.close();
  const started = starting.move();
  return {
    ...{ origin: `http://127.0.0.1:${service.port}`, sessions, ownerId: members[1]?.id ?? "" },
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
  const members = await addMembers(installation, operator, USERS);
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
 * Sessions over the days of the retention: a tenth is shared with everybody, a tenth with the first user, half is portable, a third
 * is of another harness, few of a rare one, and a tenth has an old version.
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
