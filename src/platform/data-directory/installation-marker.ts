// The file that records that a data directory once contained a database. Without it a directory whose database was lost would
// look new, and the next start would create an empty installation.
import { existsSync, rmSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Clock, toRfc3339 } from "../clock.ts";
import { flushToDisk, readOwnFile, writeWholeFile } from "../files/data-files.ts";
import type { DataDirectory } from "./data-directory.ts";

const MarkerSchema = Type.Object({
  organization_id: Type.String({ minLength: 1, maxLength: 200 }),
  /** RFC 3339; when the marker was written */
  created_at: Type.String({ maxLength: 40 }),
});

type Marker = Static<typeof MarkerSchema>;

/** @returns whether the directory once contained a database; the file's content is ignored */
export const isMarked = ({ marker }: DataDirectory): boolean => existsSync(marker);

/** @returns the organization of that database; undefined if unknown */
export const markedOrganization = (directory: DataDirectory): string | undefined =>
  readMarker(directory)?.organization_id;

/**
 * Durably marks a directory whose database contains the organization. Call it after the commit that created the organization: the
 * names of the database's files reach the disk before the marker does, so no power failure leaves a marker without a database.
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

/** Durably removes the mark, so that a new database may be created. */
export function unmark(directory: DataDirectory): void {
  rmSync(directory.marker, { force: true });
  flushToDisk(directory.path);
}

function readMarker({ marker }: DataDirectory): Marker | undefined {
  try {
    const found: unknown = JSON.parse(readOwnFile(marker).text);
    return Value.Check(MarkerSchema, found) ? found : undefined;
  } catch {
    return undefined; // an unreadable marker still marks: see isMarked
  }
}
