// SQL that removes a person's name from policy revisions. No other statement ever changes a revision.
import { and, eq, inArray, isNotNull, or, sql } from "drizzle-orm";
import { markTopicChanged } from "../../platform/database/changed-topics.ts";
import type { Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { governanceRevisions as revisions } from "./tables.ts";

export interface Author {
  organizationId: string;
  userId: string | undefined;
  /** case-folded */
  addresses: readonly string[];
}

/** @returns the number of revisions by this author; their author is now `pseudonym` */
export function renameAuthor(
  tx: Tx,
  { organizationId, userId, addresses }: Author,
  pseudonym: string,
): number {
  markTopicChanged(tx, "governance");
  const isTheirs = or(
    userId === undefined ? undefined : eq(revisions.authorId, userId),
    inArray(sql`lower(${revisions.authorLabel})`, [...addresses]),
  );
  const renamed = tx
    .update(revisions)
    .set({ authorId: null, authorLabel: pseudonym })
    .where(and(eq(revisions.organizationId, organizationId), isTheirs));
  return changesOf(renamed.run());
}

/** Maximum number of comments to search, far more than mention one user. */
const COMMENTS_MAX = 10_000;

/** The comment of a revision. */
export interface Comment {
  id: string;
  comment: string;
}

/** @returns comments that contain one of the addresses, in any case and even inside longer words */
export const commentsWith = (tx: Tx, { organizationId, addresses }: Author): Comment[] =>
  tx
    .select({ id: revisions.id, comment: sql<string>`${revisions.comment}` })
    .from(revisions)
    .where(
      and(
        eq(revisions.organizationId, organizationId),
        isNotNull(revisions.comment),
        or(...addresses.map((address) => sql`instr(lower(${revisions.comment}), ${address}) > 0`)),
      ),
    )
    .limit(COMMENTS_MAX)
    .all();

export function setComment(tx: Tx, { id, comment }: Comment): void {
  markTopicChanged(tx, "governance");
  tx.update(revisions).set({ comment }).where(eq(revisions.id, id)).run();
}
