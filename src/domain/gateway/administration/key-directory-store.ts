// SQL for the operator's view of gateway keys, and for marking all of them as due. keys/ handles due keys.
import { and, count, eq, getTableColumns, inArray, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { orderedRows, orderOf } from "../../shared/ordered-rows-store.ts";
import { likePattern } from "../../shared/page.ts";
import type { OrderedRows } from "../../shared/page-steps.ts";
import type { KeyRow } from "../model.ts";
import { gatewayKeys, gatewayRevocations } from "../tables.ts";

/** A key without its sealed secret. */
export type ShownKey = Omit<
  KeyRow,
  "sealedCredential" | "credentialVersion" | "metadata" | "configurationDigest"
>;

export interface KeyFilter {
  state?: KeyRow["state"] | undefined;
  /** only keys whose last attempt failed or that the gateway rejected */
  withProblem?: boolean | undefined;
  userId?: string | undefined;
  /** UTC milliseconds, inclusive; only keys that expire by then */
  expiresByMs?: number | undefined;
  /** part of the email address */
  q?: string | undefined;
}

const { sealedCredential, credentialVersion, metadata, configurationDigest, ...shown } =
  getTableColumns(gatewayKeys);

const BY_ADDRESS = { table: gatewayKeys, columns: [gatewayKeys.email, gatewayKeys.userId] } as const;

/** @returns keys by email address */
export function keysLike(
  connection: Connection,
  organizationId: string,
  { state, withProblem, userId, expiresByMs, q }: KeyFilter,
): OrderedRows<ShownKey> {
  const matching = and(
    state && eq(gatewayKeys.state, state),
    userId === undefined ? undefined : eq(gatewayKeys.userId, userId),
    expiresByMs === undefined ? undefined : lte(gatewayKeys.expiresAtMs, expiresByMs),
    withProblem === true
      ? or(isNotNull(gatewayKeys.problem), isNotNull(gatewayKeys.invalidationReason))
      : undefined,
    q === undefined ? undefined : sql`${gatewayKeys.email} LIKE ${likePattern(q)} ESCAPE '\\'`,
  );
  return orderedRows(connection, {
    order: BY_ADDRESS,
    within: eq(gatewayKeys.organizationId, organizationId),
    matching,
    read: (where, { limit, offset }) =>
      connection
        .select(shown)
        .from(gatewayKeys)
        .where(where)
        .orderBy(...orderOf(BY_ADDRESS))
        .limit(limit)
        .offset(offset)
        .all(),
  });
}

/** @returns the stored state of each user's key; users without one are absent */
export const statesOf = (connection: Connection, userIds: readonly string[]) =>
  new Map(
    connection
      .select({ userId: gatewayKeys.userId, state: gatewayKeys.state })
      .from(gatewayKeys)
      .where(inArray(gatewayKeys.userId, [...userIds]))
      .all()
      .map(({ userId, state }) => [userId, state]),
  );

/** @returns the number of pending revocations of this user's keys */
export const countRevocationsOf = (connection: Connection, userId: string): number =>
  connection
    .select({ total: count() })
    .from(gatewayRevocations)
    .where(eq(gatewayRevocations.userId, userId))
    .get()?.total ?? 0;

/** Marks all revocations as due, and all keys without a running attempt. @returns the number of each */
export function makeAllDue(
  tx: Tx,
  { organizationId, nowMs }: { organizationId: string; nowMs: number },
): { keys: number; revocations: number } {
  const due = { nextAttemptAtMs: nowMs };
  const isIdle = or(isNull(gatewayKeys.recoveringUntilMs), lte(gatewayKeys.recoveringUntilMs, nowMs));
  const keys = tx
    .update(gatewayKeys)
    .set(due)
    .where(and(eq(gatewayKeys.organizationId, organizationId), isIdle))
    .returning({ userId: gatewayKeys.userId })
    .all();
  const revocations = tx
    .update(gatewayRevocations)
    .set(due)
    .where(eq(gatewayRevocations.organizationId, organizationId))
    .returning({ id: gatewayRevocations.id })
    .all();
  return { keys: keys.length, revocations: revocations.length };
}
