// SQL of the stored refusals.
import { and, desc, eq, getTableColumns, lte, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { scimRefusals } from "../tables.ts";

/** A refused request, as the status shows it. */
export type Refusal = Omit<typeof scimRefusals.$inferSelect, "id" | "organizationId">;

const named = sql.placeholder;
const { id: _id, organizationId: _organizationId, ...shown } = getTableColumns(scimRefusals);

const isOurs = eq(scimRefusals.organizationId, named("organizationId"));

const insertOne = statement((connection) =>
  connection
    .insert(scimRefusals)
    .values({
      organizationId: named("organizationId"),
      atMs: named("atMs"),
      requestId: named("requestId"),
      actor: named("actor"),
      method: named("method"),
      route: named("route"),
      status: named("status"),
      scimType: named("scimType"),
      detail: named("detail"),
    })
    .prepare(),
);

const deleteOlder = statement((connection) => {
  const firstTooMany = connection
    .select({ id: scimRefusals.id })
    .from(scimRefusals)
    .where(isOurs)
    .orderBy(desc(scimRefusals.id))
    .limit(1)
    .offset(named("kept"));
  return connection
    .delete(scimRefusals)
    .where(and(isOurs, lte(scimRefusals.id, firstTooMany)))
    .prepare();
});

/** Adds one, and removes the oldest beyond `kept`. */
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
