// SQL of drafts of the policy.
import { setImmediate } from "node:timers/promises";
import { and, asc, eq, lt, or } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import { policyDrafts, policyDraftVersions } from "../tables.ts";
import type { Draft, DraftContent } from "./draft-model.ts";

/** A draft without its content. */
export type DraftSummary = Omit<Draft, keyof DraftContent>;

const summary = {
  id: policyDrafts.id,
  organizationId: policyDrafts.organizationId,
  ownerId: policyDrafts.ownerId,
  baseRevision: policyDrafts.baseRevision,
  isShared: policyDrafts.isShared,
  version: policyDrafts.version,
  createdAtMs: policyDrafts.createdAtMs,
  savedAtMs: policyDrafts.savedAtMs,
  changes: policyDrafts.changes,
};

export const findOwn = (connection: Connection, ownerId: string): DraftSummary | undefined =>
  connection.select(summary).from(policyDrafts).where(eq(policyDrafts.ownerId, ownerId)).limit(1).get();

/** @returns whether the stored draft is still the one that was read, because an administrator may have begun a new one */
export function isUnchanged(tx: Tx, { id, ownerId, version }: DraftSummary): boolean {
  const stored = findOwn(tx, ownerId);
  return version === 0 ? stored === undefined : stored?.id === id && stored.version === version;
}

/** @returns the version of the next save; in a new draft higher than in removed ones, which a page may still show */
export const nextVersion = (
  connection: Connection,
  { organizationId, version }: Pick<Draft, "organizationId" | "version">,
) => (version > 0 ? version : removedVersion(connection, organizationId)) + 1;

/** @returns the highest version of a removed draft or package addition; 0 for none */
export const removedVersion = (connection: Connection, organizationId: string): number =>
  connection
    .select({ removed: policyDraftVersions.removed })
    .from(policyDraftVersions)
    .where(eq(policyDraftVersions.organizationId, organizationId))
    .limit(1)
    .get()?.removed ?? 0;

const isNamed = (reference: string) =>
  or(eq(policyDrafts.id, reference), eq(policyDrafts.ownerId, reference));

/** @param reference id of the draft or of its owner */
export const findDraft = (
  connection: Connection,
  organizationId: string,
  reference: string,
): DraftSummary | undefined => {
  const wanted = and(eq(policyDrafts.organizationId, organizationId), isNamed(reference));
  return connection.select(summary).from(policyDrafts).where(wanted).limit(1).get();
};

/** @returns the draft with that id, with its content */
export const readDraft = (connection: Connection, id: string): Draft | undefined => {
  const row = connection.select().from(policyDrafts).where(eq(policyDrafts.id, id)).limit(1).get();
  if (!row) return undefined;
  const { document, audiences, typed, ...rest } = row;
  return {
    ...rest,
    document: JSON.parse(document),
    audiences: JSON.parse(audiences),
    typed: JSON.parse(typed),
  };
};

/** @returns the drafts of all administrators, oldest first */
export const listDrafts = (connection: Connection, organizationId: string): DraftSummary[] =>
  connection
    .select(summary)
    .from(policyDrafts)
    .where(eq(policyDrafts.organizationId, organizationId))
    .orderBy(asc(policyDrafts.savedAtMs), asc(policyDrafts.id))
    .all();

/** The content of a draft in its row. */
export type DraftTexts = { [Part in keyof DraftContent]: string };

/** @returns the texts of the row. Each is written in a separate turn, because a document may have megabytes. */
export async function draftTexts({ document, audiences, typed }: DraftContent): Promise<DraftTexts> {
  await setImmediate();
  const texts = { document: JSON.stringify(document), audiences: JSON.stringify(audiences) };
  await setImmediate();
  const written = { ...texts, typed: JSON.stringify(typed) };
  await setImmediate();
  return written;
}

export function putDraft(tx: Tx, draft: Draft, texts: DraftTexts): Draft {
  const { id, organizationId, ownerId, createdAtMs, ...rest } = draft;
  const changes = { ...rest, ...texts };
  tx.insert(policyDrafts)
    .values({ id, organizationId, ownerId, createdAtMs, ...changes })
    .onConflictDoUpdate({ target: policyDrafts.ownerId, set: changes })
    .run();
  return draft;
}

/** @returns whether there was one */
export const removeDraft = (tx: Tx, reference: string): boolean =>
  changesOf(tx.delete(policyDrafts).where(isNamed(reference)).run()) > 0;

/** @returns drafts last saved before that time */
export const removeUntouched = (tx: Tx, beforeMs: number): Pick<Draft, "id" | "organizationId">[] =>
  tx
    .delete(policyDrafts)
    .where(lt(policyDrafts.savedAtMs, beforeMs))
    .returning({ id: policyDrafts.id, organizationId: policyDrafts.organizationId })
    .all();
