// The tail of a former machine: data in its database that the active machine lacks. The record of a term contains the
// end of the restored audit log and the newest rows of each kind. This file compares them with this machine's data and
// changes nothing on the disk.
import { SQLiteError } from "bun:sqlite";
import { timedSignIns } from "../../domain/access/sign-in/login-sessions-store.ts";
import { timedGrants } from "../../domain/access/tokens/grants-store.ts";
import { lastEntry, listFollowing } from "../../domain/audit/log-store.ts";
import { timedReports } from "../../domain/clients/store.ts";
import { timedKeys } from "../../domain/gateway/keys/store.ts";
import { timedRevisions } from "../../domain/governance/store.ts";
import { timedUsers } from "../../domain/identity/store.ts";
import { timedSessions } from "../../domain/sessions/store.ts";
import { toRfc3339 } from "../../platform/clock.ts";
import { countText } from "../../platform/count-text.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import type { Connection } from "../../platform/database/database.ts";
import type { NewestRows, TimedRows } from "../../platform/database/maintenance/timed-rows.ts";
import { fileAlone, type LogEnd, reading } from "./log-end.ts";
import type { RestoredEnd } from "./terms.ts";

interface Kind {
  rows: TimedRows;
  one: string;
  many: string;
}

/** Kinds by their name in records and in --json, in the order of texts. */
const KINDS: Readonly<Record<string, Kind>> = {
  reports: { rows: timedReports, one: "workstation report", many: "workstation reports" },
  captured_sessions: { rows: timedSessions, one: "captured session", many: "captured sessions" },
  sign_ins: { rows: timedSignIns, one: "sign-in", many: "sign-ins" },
  logins: { rows: timedGrants, one: "new or renewed login", many: "new or renewed logins" },
  users: { rows: timedUsers, one: "new or changed user", many: "new or changed users" },
  policy_revisions: { rows: timedRevisions, one: "policy revision", many: "policy revisions" },
  gateway_keys: { rows: timedKeys, one: "gateway key", many: "gateway keys" },
};

/** @returns the end of a restored database, for the record of a term @throws DomainError `storage.*` */
export const restoredEnd = (file: string, { id, digest, atMs }: LogEnd): RestoredEnd => ({
  audit_id: id,
  audit_digest: digest,
  audit_at: toRfc3339(atMs),
  newest: reading(fileAlone(file), (connection) =>
    Object.fromEntries(
      Object.entries(KINDS).flatMap(([name, { rows }]) => {
        const newest = ofSchema(() => rows.newest(connection));
        return newest ? [[name, newest]] : [];
      }),
    ),
  ),
});

/** Data of this machine that the active machine lacks. */
export interface Tail {
  audit: { entries: number; firstAtMs: number; lastAtMs: number; lastId: number } | undefined;
  /** number of rows of each kind; kinds without rows are absent */
  rows: Readonly<Record<string, number>>;
}

/** `unrelated` if the audit logs of the two machines do not share the restored entry; `unreadable` if the database is damaged. */
export type FoundTail = Tail | "unrelated" | "unreadable";

/**
 * @param restored end of the data on the active machine
 * @returns undefined if that machine has everything
 */
export function tailAfter(directory: DataDirectory, restored: RestoredEnd): FoundTail | undefined {
  try {
    return reading(directory, (connection) => compare(connection, restored));
  } catch {
    return "unreadable"; // only a report depends on it
  }
}

function compare(connection: Connection, restored: RestoredEnd): Tail | "unrelated" | undefined {
  const [shared, first] = listFollowing(connection, { after: restored.audit_id - 1, limit: 2 });
  if (shared?.id !== restored.audit_id || shared.digest !== restored.audit_digest) return "unrelated";
  const last = lastEntry(connection);
  const audit =
    first && last
      ? { entries: last.id - shared.id, firstAtMs: first.atMs, lastAtMs: last.atMs, lastId: last.id }
      : undefined;
  const rows = rowsAfter(connection, restored.newest ?? {});
  return audit || Object.keys(rows).length > 0 ? { audit, rows } : undefined;
}

/** A record lacks a kind if a former version wrote it, or if the database had no such table. */
function rowsAfter(connection: Connection, newest: Readonly<Record<string, NewestRows>>): Tail["rows"] {
  const counts = Object.entries(KINDS).map(([name, { rows }]) => {
    const than = newest[name];
    return [name, than ? (ofSchema(() => rows.countNewer(connection, than)) ?? 0) : 0] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** A database of an earlier schema may lack a table or column. */
function ofSchema<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof SQLiteError && error.code === "SQLITE_ERROR") return undefined;
    throw error;
  }
}

/** @returns for example `2 audit entries (up to 31, …), 5 workstation reports` */
export function tailAmounts({ audit, rows }: Tail): string {
  const amounts = Object.entries(KINDS).flatMap(([name, { one, many }]) => {
    const count = rows[name] ?? 0;
    return count === 0 ? [] : [countText(count, one, many)];
  });
  return [...(audit ? [auditText(audit)] : []), ...amounts].join(", ");
}

const auditText = ({ entries, firstAtMs, lastAtMs, lastId }: NonNullable<Tail["audit"]>): string =>
  `${countText(entries, "audit entry", "audit entries")} (up to ${lastId}, from ${toRfc3339(firstAtMs)} to ${toRfc3339(lastAtMs)})`;

/** @returns one sentence for the operator; undefined if the other machine lacks nothing */
export function tailText(tail: FoundTail | undefined): string | undefined {
  if (tail === undefined) return undefined;
  if (tail === "unrelated") return "the databases of the two machines have nothing in common";
  if (tail === "unreadable")
    return "the database of this machine cannot be read, so the data that the other one lacks is unknown";
  return `this machine has data that the other one lacks: ${tailAmounts(tail)}`;
}
