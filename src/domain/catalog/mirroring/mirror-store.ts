// SQL of mirrored commits.
import { and, desc, eq } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll } from "../../../platform/database/drizzle.ts";
import { artifacts } from "../tables.ts";
import { mirrors } from "./tables.ts";

export type MirrorRow = typeof mirrors.$inferSelect;

/** The key of a mirrored commit. */
export type MirrorKey = Pick<MirrorRow, "organizationId" | "connectionId" | "repository" | "path" | "commit">;

/** Maximum number of mirrored commits to return. */
export const MIRRORS_LISTED_MAX = 200;

const artifactColumns = {
  sha256: artifacts.sha256,
  sizeBytes: artifacts.sizeBytes,
  entries: artifacts.entries,
  expandedBytes: artifacts.expandedBytes,
};

/** A mirrored commit with its artifact. */
export interface Mirrored {
  mirror: MirrorRow;
  artifact: { sha256: string; sizeBytes: number; entries: number; expandedBytes: number };
}

const joined = (connection: Connection) =>
  connection
    .select({ mirror: mirrors, artifact: artifactColumns })
    .from(mirrors)
    .innerJoin(artifacts, eq(artifacts.id, mirrors.artifactId));

const withKey = statement((connection) =>
  joined(connection)
    .where(equalAll(mirrors, "organizationId", "connectionId", "repository", "path", "commit"))
    .limit(1)
    .prepare(),
);

export const findMirror = (connection: Connection, key: MirrorKey): Mirrored | undefined =>
  withKey(connection).get({ ...key });

/** @returns every commit with that artifact, the newest first */
export const mirrorsOf = (connection: Connection, organizationId: string, artifactId: string): Mirrored[] =>
  joined(connection)
    .where(and(eq(mirrors.organizationId, organizationId), eq(mirrors.artifactId, artifactId)))
    .orderBy(desc(mirrors.mirroredAtMs), desc(mirrors.id))
    .limit(MIRRORS_LISTED_MAX)
    .all();

/** Removes every commit with that artifact. */
export function removeMirrors(tx: Tx, artifactId: string): void {
  tx.delete(mirrors).where(eq(mirrors.artifactId, artifactId)).run();
}

export function addMirror(tx: Tx, row: MirrorRow): void {
  tx.insert(mirrors).values(row).onConflictDoNothing().run();
}
