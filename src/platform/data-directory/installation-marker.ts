// The file that says that a data directory has held a database. Without it a directory whose database was lost would look like
// a new one, and the next start would begin an empty installation.
import { existsSync, rmSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Clock, toRfc3339 } from "../clock.ts";
import { flushToDisk, readOwnFile, writeWholeFile } from "../own-files.ts";
import type { DataDirectory } from "./data-directory.ts";

const MarkerSchema = Type.Object({
  organization_id: Type.String({ minLength: 1, maxLength: 200 }),
  /** RFC 3339; when the marker was written */
  created_at: Type.String({ maxLength: 40 }),
});

type Marker = Static<typeof MarkerSchema>;

/** @returns whether the directory has held a database, whatever the file says */
export const isMarked = ({ marker }: DataDirectory): boolean => existsSync(marker);

/** @returns the organization of the database that the directory has held; undefined where that is unknown */
export const markedOrganization = (directory: DataDirectory): string | undefined =>
  readMarker(directory)?.organization_id;

/**
 * Marks a directory whose database holds the organization, durably. Call it after the commit that made the organization: the
 * names of the database's files reach the disk before the marker does, so no power cut leaves a marker without a database.
 */
export function markInstallation(
  directory: DataDirectory,
  { organizationId, clock }: { organizationId: string; clock: Clock },
): void {
  if (markedOrganization(directory) === organizationId) return;
  const marker: Marker = { organization_id: organizationId, created_at: toRfc3339(clock.nowMs()) };
  flushToDisk(directory.path);
  writeWholeFile(directory.marker, `${JSON.stringify(marker)}\n`);
}

/** Forgets that there was a database, durably, so that another one may be begun. */
export function unmark(directory: DataDirectory): void {
  rmSync(directory.marker, { force: true });
  flushToDisk(directory.path);
}

function readMarker({ marker }: DataDirectory): Marker | undefined {
  try {
    const found: unknown = JSON.parse(readOwnFile(marker).text);
    return Value.Check(MarkerSchema, found) ? found : undefined;
  } catch {
    return undefined; // a marker that cannot be read still marks: see isMarked
  }
}
