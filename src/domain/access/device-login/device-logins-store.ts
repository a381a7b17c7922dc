// SQL of device logins. Each change of state is one conditional update derived from the table in model.ts, so only one of two
// concurrent changes finds its row. device-logins.ts and grants.ts decide who may make a change.
import {
  and,
  count,
  eq,
  exists,
  gt,
  inArray,
  isNull,
  lte,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { markTopicChanged } from "../../../platform/database/changed-topics.ts";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf, equalAll, insertAll, named } from "../../../platform/database/drizzle.ts";
import {
  type DeviceLoginEvent,
  STORED_STATES,
  type StoredState,
  SWEEP_BATCH_ROWS,
  transitionOf,
} from "../model.ts";
import { deviceLogins, loginSessions } from "../tables.ts";

export type DeviceLoginRow = typeof deviceLogins.$inferSelect;
export type NewDeviceLogin = Pick<
  DeviceLoginRow,
  | "id"
  | "deviceCodeHash"
  | "userCodeHash"
  | "linkHash"
  | "clientId"
  | "scope"
  | "resource"
  | "address"
  | "countedAddress"
  | "countedNetwork"
  | "createdAtMs"
  | "expiresAtMs"
>;

const insertOne = statement((connection) =>
  connection.insert(deviceLogins).values(insertAll(deviceLogins)).onConflictDoNothing().prepare(),
);

const PENDING = { state: "pending", userId: null, loginSessionId: null, decidedAtMs: null } as const;

/** @returns false if the user code, or the beginning of its hash, is taken */
export const insert = (tx: Tx, login: NewDeviceLogin): boolean =>
  changesOf(insertOne(tx).run({ ...login, ...PENDING })) > 0;

const POLLED = {
  id: deviceLogins.id,
  deviceCodeHash: deviceLogins.deviceCodeHash,
  clientId: deviceLogins.clientId,
  resource: deviceLogins.resource,
  state: deviceLogins.state,
  expiresAtMs: deviceLogins.expiresAtMs,
};

/** The columns needed to answer a poll. */
export type PolledLogin = Pick<DeviceLoginRow, keyof typeof POLLED>;

const selectPolled = statement((connection) =>
  connection.select(POLLED).from(deviceLogins).where(equalAll(deviceLogins, "id")).limit(1).prepare(),
);

/** The expression of the index on user codes, which stores the beginnings of the hashes. */
const indexed = (hash: SQLWrapper): SQL => sql`substr(${hash}, 1, 12)`;

const selectByUserCode = statement((connection) =>
  connection
    .select()
    .from(deviceLogins)
    .where(
      and(
        eq(indexed(deviceLogins.userCodeHash), indexed(named("hash"))),
        eq(deviceLogins.userCodeHash, named("hash")),
      ),
    )
    .limit(1)
    .prepare(),
);

/** @returns the login of a device code; the id selects the row, and the hash must match the whole code */
export function findByDeviceCode(
  connection: Connection,
  { id, hash }: { id: string; hash: string },
): PolledLogin | undefined {
  const login = selectPolled(connection).get({ id });
  return login?.deviceCodeHash === hash ? login : undefined;
}

export const findByUserCode = (connection: Connection, hash: string): DeviceLoginRow | undefined =>
  selectByUserCode(connection).get({ hash });

/** @returns the row of a link; the user code selects it, and the hash must match the link */
export function findByLink(
  connection: Connection,
  { userCodeHash, linkHash }: { userCodeHash: string; linkHash: string },
): DeviceLoginRow | undefined {
  const row = findByUserCode(connection, userCodeHash);
  return row?.linkHash === linkHash ? row : undefined;
}

/** @returns the number of pending rows, including expired ones that are not swept yet */
export const countPending = (connection: Connection): number =>
  connection.select({ rows: count() }).from(deviceLogins).where(eq(deviceLogins.state, "pending")).get()
    ?.rows ?? 0;

/** The state must be literal: with a parameter, SQLite cannot use the partial index. */
const pendingOfNetwork = statement((connection) =>
  connection
    .select({
      network: count(),
      address: sql<number>`coalesce(sum(${deviceLogins.countedAddress} = ${named("address")}), 0)`,
    })
    .from(deviceLogins)
    .where(
      and(
        sql`${deviceLogins.state} = 'pending'`,
        eq(deviceLogins.countedNetwork, named("network")),
        gt(deviceLogins.expiresAtMs, named("nowMs")),
      ),
    )
    .prepare(),
);

/** @returns how many logins of a network are pending, and how many of those are from one address */
export const countPendingFor = (
  connection: Connection,
  caller: { address: string; network: string; nowMs: number },
): { network: number; address: number } =>
  pendingOfNetwork(connection).get({ ...caller }) ?? { network: 0, address: 0 };

/** Matches the row of `id` if it has not expired and its state allows the event. */
const allows = (event: DeviceLoginEvent) =>
  and(
    equalAll(deviceLogins, "id"),
    eq(deviceLogins.state, transitionOf(event).from),
    gt(deviceLogins.expiresAtMs, named("nowMs")),
  );

const claimOne = statement((connection) =>
  connection
    .update(deviceLogins)
    .set({ state: transitionOf("claim").to, userId: named("userId") })
    .where(and(allows("claim"), or(isNull(deviceLogins.userId), equalAll(deviceLogins, "userId"))))
    .returning()
    .prepare(),
);

/** Binds a pending login to the user, unless another user was first. @returns the bound row */
export const claim = (
  tx: Tx,
  change: { id: string; userId: string; nowMs: number },
): DeviceLoginRow | undefined => claimOne(tx).get({ ...change });

const decideOne = (event: "approve" | "refuse") =>
  statement((connection) =>
    connection
      .update(deviceLogins)
      .set({
        state: transitionOf(event).to,
        loginSessionId: named("loginSessionId"),
        decidedAtMs: named("nowMs"),
      })
      .where(
        and(
          allows(event),
          equalAll(deviceLogins, "userId"),
          exists(openSession(connection, named("loginSessionId"))),
        ),
      )
      .returning()
      .prepare(),
  );

const decisions = { approve: decideOne("approve"), refuse: decideOne("refuse") };

export interface DecisionChange {
  id: string;
  userId: string;
  loginSessionId: string;
  decision: "approve" | "refuse";
  nowMs: number;
}

/** Records the decision on a pending login that the user has claimed, from an open session of that user. @returns the decided row */
export function decide(tx: Tx, { decision, ...change }: DecisionChange): DeviceLoginRow | undefined {
  markTopicChanged(tx, "access");
  return decisions[decision](tx).get(change);
}

const redeemOne = statement((connection) =>
  connection
    .update(deviceLogins)
    .set({ state: transitionOf("redeem").to })
    .where(and(allows("redeem"), exists(openSession(connection, deviceLogins.loginSessionId))))
    .returning()
    .prepare(),
);

/** Redeems an approved device code while the approving session is open. @returns the row, for exactly one caller */
export const redeem = (tx: Tx, change: { id: string; nowMs: number }): DeviceLoginRow | undefined =>
  redeemOne(tx).get({ ...change });

/** The login session, if it is open and belongs to the user of the device login. */
const openSession = (connection: Connection, id: SQL | typeof deviceLogins.loginSessionId) =>
  connection
    .select({ id: loginSessions.id })
    .from(loginSessions)
    .where(
      and(
        eq(loginSessions.id, id),
        eq(loginSessions.userId, deviceLogins.userId),
        isNull(loginSessions.endedAtMs),
        gt(loginSessions.expiresAtMs, named("nowMs")),
      ),
    );

/** Removes at most SWEEP_BATCH_ROWS logins that expired by then. @returns their last states */
export function removeExpired(tx: Tx, untilMs: number): StoredState[] {
  markTopicChanged(tx, "access");
  const dead = tx
    .select({ id: deviceLogins.id })
    .from(deviceLogins)
    .where(and(inArray(deviceLogins.state, [...STORED_STATES]), lte(deviceLogins.expiresAtMs, untilMs)))
    .limit(SWEEP_BATCH_ROWS);
  return tx
    .delete(deviceLogins)
    .where(inArray(deviceLogins.id, dead))
    .returning({ state: deviceLogins.state })
    .all()
    .map(({ state }) => state);
}
