// SQL that removes stored refusals about a user, and the user's name from tokens.
import { and, eq, inArray, or, sql } from "drizzle-orm";
import type { Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { scimRefusals, scimTokens } from "./tables.ts";

/** @param names as they may appear in a path or a sentence, in any case @returns how many refusals were removed */
export function removeRefusals(
  tx: Tx,
  { organizationId, names }: { organizationId: string; names: readonly string[] },
): number {
  if (names.length === 0) return 0;
  const text = sql`lower(${scimRefusals.route} || ' ' || ${scimRefusals.detail})`;
  const isNamed = or(...names.map((name) => sql`instr(${text}, lower(${name})) > 0`));
  const removed = tx
    .delete(scimRefusals)
    .where(and(eq(scimRefusals.organizationId, organizationId), isNamed));
  return changesOf(removed.run());
}

/** @param made `by` are folded addresses @returns how many tokens got another creator's name */
export function renameMaker(
  tx: Tx,
  { organizationId, by, pseudonym }: { organizationId: string; by: readonly string[]; pseudonym: string },
): number {
  const isTheirs = inArray(sql`lower(${scimTokens.createdBy})`, [...by]);
  const renamed = tx
    .update(scimTokens)
    .set({ createdBy: pseudonym })
    .where(and(eq(scimTokens.organizationId, organizationId), isTheirs));
  return changesOf(renamed.run());
}
