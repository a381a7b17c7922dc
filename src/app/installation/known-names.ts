// Reads ids and names for shell completion and for proposals after a wrong name, over its own read-only connection. It
// does not use the domain, because building the domain takes longer than a key press may wait.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { distance } from "fastest-levenshtein";
import type { Clock } from "../../platform/clock.ts";
import { openDataDirectory } from "../../platform/data-directory/data-directory.ts";
import { openConnection } from "../../platform/database/connection.ts";
import { programSchema, schemaOf } from "../../platform/database/schema/schema.ts";

/** A completion: the name that commands take, and a description. */
export interface Named {
  readonly name: string;
  readonly about: string;
}

/** more than a person reads, but few enough for a shell to show */
export const NAMES_MAX = 100;
/** maximum length of a compared name; an e-mail address has at most 254 characters */
export const NEAR_LENGTH_MAX = 254;
/** short, so that a lock of another process does not delay the shell: the next key press asks again */
const BUSY_TIMEOUT_MS = 20;

/** Ordered by index, newest first, so that reading can stop at any row. */
const STATEMENTS = {
  user: "SELECT email AS name, role AS about FROM users WHERE status <> 'removed' ORDER BY id DESC",
  group:
    "SELECT display_name AS name, member_count || ' members' AS about FROM scim_groups ORDER BY sequence DESC",
  invitation: "SELECT id AS name, email AS about FROM invitations WHERE status = 'pending' ORDER BY id DESC",
  login: `
    SELECT g.id AS name, 'grant of ' || u.email AS about FROM grants g JOIN users u ON u.id = g.user_id
      WHERE g.revoked_at_ms IS NULL
    UNION ALL SELECT s.id, 'login session of ' || u.email FROM login_sessions s JOIN users u ON u.id = s.user_id
      WHERE s.ended_at_ms IS NULL
    UNION ALL SELECT id, 'device login' FROM device_logins WHERE state IN ('pending', 'approved')`,
  client: `
    SELECT coalesce(c.hostname, c.id) AS name, u.email AS about FROM client_reports c
      JOIN users u ON u.id = c.user_id ORDER BY c.id DESC`,
  session: `
    SELECT s.id AS name, s.harness || ' of ' || u.email AS about FROM captured_sessions s
      JOIN users u ON u.id = s.user_id WHERE s.current_artifact_id IS NOT NULL ORDER BY s.id DESC`,
  artifact: `
    SELECT a.id AS name, coalesce(
      (SELECT m.repository || '@' || m.ref FROM mirrors m WHERE m.artifact_id = a.id LIMIT 1),
      'sha256:' || substr(a.sha256, 1, 12)
    ) AS about FROM artifacts a ORDER BY a.id DESC`,
  connection: "SELECT connection_id AS name, coalesce(reason, 'ok') AS about FROM connection_states",
  package: "SELECT id AS name, version AS about FROM catalog_packages",
  revision:
    "SELECT CAST(sequence AS TEXT) AS name, author_label AS about FROM governance_revisions ORDER BY sequence DESC",
  conflict: "SELECT value AS name, '' AS about FROM governance_deployments, json_each(conflicts)",
  token: "SELECT label AS name, profile AS about FROM scim_tokens WHERE revoked_at_ms IS NULL",
  issuer: "SELECT issuer AS name, count(*) || ' identities' AS about FROM user_identities GROUP BY issuer",
  model: "SELECT id AS name, coalesce(display_name, '') AS about FROM gateway_models",
  job: "SELECT name, coalesce(last_outcome, 'not run yet') AS about FROM jobs",
} as const;

export type NameKind = keyof typeof STATEMENTS;

export interface WantedNames {
  kind: NameKind;
  clock: Clock;
  /** UTC milliseconds; later results are useless */
  deadlineMs: number;
}

/**
 * Reads until there are NAMES_MAX names or the time limit is reached.
 * @returns names that begin with `prefix`; empty after the time limit, without an installation, and for a schema older
 * than this program
 * @throws DomainError `data_dir.*`, `storage.*`, `schema.newer`
 */
export function namesIn(
  dataDirectory: string,
  { prefix, ...wanted }: WantedNames & { prefix: string },
): readonly Named[] {
  const found: Named[] = [];
  const isInTime = readNames(dataDirectory, wanted, (row) => {
    if (row.name.startsWith(prefix)) found.push(row);
    return found.length < NAMES_MAX;
  });
  return isInTime ? found : [];
}

/**
 * @param name with at most NEAR_LENGTH_MAX characters, because comparing takes quadratic time
 * @returns the most similar name if a typing mistake explains the difference; undefined otherwise, for two equally
 * similar names, and after the time limit
 * @throws DomainError as namesIn
 */
export function nearestName(
  dataDirectory: string,
  { name, ...wanted }: WantedNames & { name: string },
): string | undefined {
  if (name.length > NEAR_LENGTH_MAX) return undefined;
  let nearest: { name: string; away: number; isTied: boolean } | undefined;
  const isInTime = readNames(dataDirectory, wanted, (row) => {
    const away = distanceOf(row.name.slice(0, NEAR_LENGTH_MAX + 1), name);
    if (away === undefined || away > (nearest?.away ?? away)) return true;
    if (away === nearest?.away) nearest.isTied ||= nearest.name !== row.name;
    else nearest = { name: row.name, away, isTied: false };
    return true;
  });
  return isInTime && !nearest?.isTied ? nearest?.name : undefined;
}

/**
 * Ignores case, and the common suffix, because all addresses of a company end alike.
 * @returns the number of different characters; undefined if these are more than one and more than a quarter of the name,
 * or if only digits differ, because another number means another machine
 */
function distanceOf(known: string, given: string): number | undefined {
  const [one, other] = [known.toLowerCase(), given.toLowerCase()];
  if (one !== other && withoutDigits(one) === withoutDigits(other)) return undefined;
  let same = 0;
  while (same < other.length && one.at(-1 - same) === other.at(-1 - same)) same += 1;
  const length = other.length - same;
  const [first, second] = [one.slice(0, one.length - same), other.slice(0, length)];
  const away = isSwapped(first, second) ? 1 : distance(first, second);
  return away <= Math.max(1, length / 4) ? away : undefined;
}

/** @returns whether the texts differ by two letters that changed places: the most common mistake of a fast typist */
function isSwapped(one: string, other: string): boolean {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at < one.length && one === `${other.slice(0, at)}${other[at + 1]}${other[at]}${other.slice(at + 2)}`;
}

const withoutDigits = (name: string): string => name.replaceAll(/\d/g, "");

/** @param use returns false to stop @returns false after the time limit */
function readNames(dataDirectory: string, wanted: WantedNames, use: (row: Named) => boolean): boolean {
  if (!existsSync(join(dataDirectory, "quartermaster.db"))) return true; // opening would create the directory
  const { database } = openDataDirectory(dataDirectory);
  using connection = openConnection(database, { readonly: true, busyTimeoutMs: BUSY_TIMEOUT_MS });
  if (schemaOf(connection) !== programSchema()) return true;
  using statement = connection.prepare<Named, []>(STATEMENTS[wanted.kind]);
  for (const row of statement.iterate()) {
    if (wanted.clock.nowMs() > wanted.deadlineMs) return false;
    if (!use(row)) break;
  }
  return true;
}
