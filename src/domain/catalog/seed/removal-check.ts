// Finds removals of packages that the current policy still names. An operator may force them.
import type { Connection } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { PackageVersion } from "./plan.ts";

/** Finds packages in use, and decides whether they may be removed. */
export interface RemovalCheck {
  /**
   * @returns packages that the current policy names, with the number of its revision; called again inside the transaction,
   *   because a policy may be published while archives are read and stored
   */
  inUse(connection: Connection): ReadonlyMap<string, number>;
  /** removes packages in use as well */
  allowDangling: boolean;
}

/** A package to remove that the policy names. */
export type BlockedRemoval = PackageVersion & { revision: number };

/** @returns the removals that the current policy forbids */
export function findBlockedRemovals(
  removed: readonly PackageVersion[],
  { inUse, allowDangling }: RemovalCheck,
  connection: Connection,
): BlockedRemoval[] {
  if (allowDangling || removed.length === 0) return [];
  const revisions = inUse(connection);
  return removed.flatMap((entry) => {
    const revision = revisions.get(entry.id);
    return revision === undefined ? [] : [{ ...entry, revision }];
  });
}

/** @throws DomainError `catalog.dangling` for removals that the current policy forbids */
export function refuseDangling(
  removed: readonly PackageVersion[],
  check: RemovalCheck,
  { connection, hint }: { connection: Connection; hint: string },
): void {
  const blocked = findBlockedRemovals(removed, check, connection);
  if (blocked.length === 0) return;
  const names = blocked.map(({ id }) => id).join(", ");
  throw new DomainError(
    "conflict",
    "catalog.dangling",
    `revision ${blocked[0]?.revision} of the policy names ${names}; nothing was changed`,
    { hint },
  );
}
