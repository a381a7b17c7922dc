// Finds the revisions that changed one package, its audience, or its overrides.
import type { Db } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { REVISIONS_LISTED_MAX } from "../model.ts";
import * as revisions from "../store.ts";
import { type PackageInRevision, packageInRevisions } from "./package-history-store.ts";

/** Maximum number of changes to return; older revisions are not read. */
export const PACKAGE_CHANGES_MAX = 10;

const NOTHING: PackageInRevision = { entry: null, audience: null, use: null };

export interface PackageChange {
  revision: revisions.RevisionSummary;
  /** version before and after; undefined if the policy did not have the package */
  from: string | undefined;
  to: string | undefined;
  /** whether the audience of a remaining package changed */
  isAudienceChanged: boolean;
  /** whether an override of a remaining package changed */
  isUseChanged: boolean;
}

/** @returns at most PACKAGE_CHANGES_MAX changes among the newest REVISIONS_LISTED_MAX revisions, newest first */
export function* packageHistory(
  { read }: Pick<Db, "read">,
  organizationId: string,
  packageId: string,
): Steps<PackageChange[]> {
  const packageIn = packageInRevisions(read, packageId);
  const newest = revisions.listRevisions(read, organizationId, { limit: REVISIONS_LISTED_MAX });
  const changes: PackageChange[] = [];
  let after = newest[0] && packageIn(newest[0].id);
  yield;
  for (const [at, revision] of newest.entries()) {
    const former = newest[at + 1];
    // The predecessor of the oldest revision read is known only if that is the first revision.
    if (!after || (!former && newest.length === REVISIONS_LISTED_MAX)) break;
    const before = former ? (packageIn(former.id) ?? NOTHING) : NOTHING;
    const change = changeBetween(before, after);
    if (change) changes.push({ revision, ...change });
    if (changes.length === PACKAGE_CHANGES_MAX) break;
    after = before;
    yield;
  }
  return changes;
}

const versionIn = ({ entry }: PackageInRevision): string | undefined =>
  entry === null ? undefined : JSON.parse(entry).version;

function changeBetween(
  before: PackageInRevision,
  after: PackageInRevision,
): Omit<PackageChange, "revision"> | undefined {
  const isThere = before.entry !== null && after.entry !== null;
  const isAudienceChanged = isThere && before.audience !== after.audience;
  const isUseChanged = isThere && before.use !== after.use;
  if (before.entry === after.entry && !isAudienceChanged && !isUseChanged) return undefined;
  return { from: versionIn(before), to: versionIn(after), isAudienceChanged, isUseChanged };
}
