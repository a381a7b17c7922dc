// SQL of the stored refusals.
import { and, desc, eq, getTableColumns, lte, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, insertAll } from "../../../platform/database/drizzle.ts";
import { scimRefusals } from "../tables.ts";

/** A refused request in the status. */
export type Refusal = Omit<typeof scimRefusals.$inferSelect, "id" | "organizationId">;

const { id: _id, organizationId: _organizationId, ...shown } = getTableColumns(scimRefusals);

const isOurs = equalAll(scimRefusals, "organizationId");

const insertOne = statement((connection) =>
  connection.insert(scimRefusals).values(insertAll(scimRefusals, "id")).prepare(),
);

const deleteOlder = statement((connection) => {
  const firstTooMany = connection
    .select({ id: scimRefusals.id })
    .from(scimRefusals)
    .where(isOurs)
    .orderBy(desc(scimRefusals.id))
    .limit(1)
    .offset(sql.placeholder("kept"));
  return connection
    .delete(scimRefusals)
    .where(and(isOurs, lte(scimRefusals.id, firstTooMany)))
    .prepare();
});

/** Adds a refusal, and removes the oldest beyond `kept`. */
export function addRefusal(
  tx: Tx,
  { kept, organizationId, ...refusal }: Refusal & { organizationId: string; kept: number },
): void {
  insertOne(tx).run({ ...refusal, organizationId });
  deleteOlder(tx).run({ organizationId, kept });
}

/** @returns all stored refusals, newest first */
export const refusalsOf = (connection: Connection, organizationId: string): readonly Refusal[] =>
  connection
    .select(shown)
    .from(scimRefusals)
    .where(eq(scimRefusals.organizationId, organizationId))
    .orderBy(desc(scimRefusals.id))
    .all();
