// SQL that reads one package from single revisions, without reading whole documents.
import { eq, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import { governanceRevisions } from "../tables.ts";

/** A package in a revision: each member as JSON; null for none. */
export interface PackageInRevision {
  /** the package itself */
  entry: string | null;
  audience: string | null;
  /** overrides of all harnesses */
  use: string | null;
}

/** @returns a function that reads the package in a revision */
export function packageInRevisions(
  connection: Connection,
  packageId: string,
): (revision: string) => PackageInRevision | undefined {
  const { audiences, document, id } = governanceRevisions;
  const member = JSON.stringify(packageId);
  const entry = sql<string | null>`(SELECT value FROM json_each(${document}, '$.packages')
    WHERE value ->> '$.id' = ${packageId} LIMIT 1)`;
  const overrides = HARNESS_KEYS.map(
    (key) => sql`json_extract(${document}, ${`$.harnesses.${key}.package_overrides.${member}`})`,
  );
  return (revision) =>
    connection
      .select({
        entry,
        audience: sql<string | null>`json_extract(${audiences}, ${`$.${member}`})`,
        use: sql<string | null>`json_array(${sql.join(overrides, sql`, `)})`,
      })
      .from(governanceRevisions)
      .where(eq(id, revision))
      .limit(1)
      .get();
}
