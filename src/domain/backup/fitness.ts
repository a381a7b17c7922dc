// Checks whether an external database is ours, undamaged, and contains only what our migrations create.
import type { Inspected } from "../../platform/database/maintenance/copy.ts";
import { damaged, foreignObjects, notBackupFile } from "./errors.ts";

/** @throws DomainError `backup.damaged`, `backup.unreadable`, `backup.foreign_objects` */
export function assertUsableDatabase(
  path: string,
  { problems, schema, organizationId, differences }: Inspected,
): void {
  if (problems.length > 0) throw damaged(path, `its database fails the integrity check: ${problems[0]}`);
  if (schema === 0) throw notBackupFile(path, "its database has no migration history of Quartermaster");
  if (organizationId === undefined) throw notBackupFile(path, "its database has no organization");
  if (differences.length > 0) throw foreignObjects(path, differences);
}
