// SQL of device logins. Each change of state is one conditional update taken from the table in model.ts: of two that
// happen together only one finds its row. Who may cause it is decided in device-logins.ts and grants.ts.
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
  type Placeholder,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import { moveRevision } from "../../../platform/database/moved-topics.ts";
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

const named = (name: string): SQL => sql`${sql.placeholder(name)}`;

const insertOne = statement((connection) =>
  connection
    .insert(deviceLogins)
    .values({
      id: sql.placeholder("id"),
      deviceCodeHash: sql.placeholder("deviceCodeHash"),
      userCodeHash: sql.placeholder("userCodeHash"),
      linkHash: sql.placeholder("linkHash"),
      clientId: sql.placeholder("clientId"),
      scope: sql.placeholder("scope"),
      resource: sql.placeholder("resource"),
      address: sql.placeholder("address"),
      countedAddress: sql.placeholder("countedAddress"),
      countedNetwork: sql.placeholder("countedNetwork"),
      createdAtMs: sql.placeholder("createdAtMs"),
      expiresAtMs: sql.placeholder("expiresAtMs"),
      state: "pending",
    })
    .onConflictDoNothing()
    .prepare(),
);

/** @returns whether it was inserted; not when its user code, or the beginning of its hash, is taken */
export const insert = (tx: Tx, login: NewDeviceLogin): boolean =>
  changesOf(insertOne(tx).run({ ...login })) > 0;

const POLLED = {
  id: deviceLogins.id,
  deviceCodeHash: deviceLogins.deviceCodeHash,
  clientId: deviceLogins.clientId,
  resource: deviceLogins.resource,
  state: deviceLogins.state,
  expiresAtMs: deviceLogins.expiresAtMs,
};

/** What answering a poll takes of a row. */
export type PolledLogin = Pick<DeviceLoginRow, keyof typeof POLLED>;

const selectPolled = statement((connection) =>
  connection
    .select(POLLED)
    .from(deviceLogins)
    .where(eq(deviceLogins.id, sql.placeholder("id")))
    .limit(1)
    .prepare(),
);

/** As the index of user codes has it, which holds the beginnings of the hashes. */
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

/** @returns the login of a device code: the id finds it, the hash of the whole code proves it */
export function findByDeviceCode(
  connection: Connection,
  { id, hash }: { id: string; hash: string },
): PolledLogin | undefined {
  const login = selectPolled(connection).get({ id });
  return login?.deviceCodeHash === hash ? login : undefined;
}

export const findByUserCode = (connection: Connection, hash: string): DeviceLoginRow | undefined =>
  selectByUserCode(connection).get({ hash });

/** @returns the row of a link: its user code finds it, the hash of the link proves it */
export function findByLink(
  connection: Connection,
  { userCodeHash, linkHash }: { userCodeHash: string; linkHash: string },
): DeviceLoginRow | undefined {
  const row = findByUserCode(connection, userCodeHash);
  return row?.linkHash === linkHash ? row : undefined;
}

/** @returns the rows in state pending, expired ones included until they are swept */
export const countPending = (connection: Connection): number =>
  connection.select({ rows: count() }).from(deviceLogins).where(eq(deviceLogins.state, "pending")).get()
    ?.rows ?? 0;

/** The literal state, as a parameter would keep SQLite from using the partial index. */
const pendingOfNetwork = statement((connection) =>
  connection
    .select({
      network: count(),
      address: sql<number>`coalesce(sum(${deviceLogins.countedAddress} = ${sql.placeholder("address")}), 0)`,
    })
    .from(deviceLogins)
    .where(
      and(
        sql`${deviceLogins.state} = 'pending'`,
        eq(deviceLogins.countedNetwork, sql.placeholder("network")),
        gt(deviceLogins.expiresAtMs, sql.placeholder("nowMs")),
      ),
    )
    .prepare(),
);

/** @returns how many logins of a network wait for a decision, and how many of them are of one of its addresses */
export const countPendingFor = (
  connection: Connection,
  caller: { address: string; network: string; nowMs: number },
): { network: number; address: number } =>
  pendingOfNetwork(connection).get({ ...caller }) ?? { network: 0, address: 0 };

/** The row of `id` in the state from which the table lets the event lead on, and not expired. */
const allows = (event: DeviceLoginEvent) =>
  and(
    eq(deviceLogins.id, sql.placeholder("id")),
    eq(deviceLogins.state, transitionOf(event).from),
    gt(deviceLogins.expiresAtMs, sql.placeholder("nowMs")),
  );

const claimOne = statement((connection) =>
  connection
    .update(deviceLogins)
    .set({ state: transitionOf("claim").to, userId: named("userId") })
    .where(
      and(
        allows("claim"),
        or(isNull(deviceLogins.userId), eq(deviceLogins.userId, sql.placeholder("userId"))),
      ),
    )
    .returning()
    .prepare(),
);

/** Binds a pending login to the user, unless another one was first. @returns the bound row */
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
          eq(deviceLogins.userId, sql.placeholder("userId")),
          exists(openSession(connection, sql.placeholder("loginSessionId"))),
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

/** Decides a pending login that the user has claimed, from an open session of his. @returns the decided row */
export function decide(tx: Tx, { decision, ...change }: DecisionChange): DeviceLoginRow | undefined {
  moveRevision(tx, "access");
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

/** Spends an approved device code while the approving session is open. @returns the row for one caller only */
export const redeem = (tx: Tx, change: { id: string; nowMs: number }): DeviceLoginRow | undefined =>
  redeemOne(tx).get({ ...change });

/** the login session, while it is open and belongs to the user of the device login */
const openSession = (connection: Connection, id: Placeholder | typeof deviceLogins.loginSessionId) =>
  connection
    .select({ id: loginSessions.id })
    .from(loginSessions)
    .where(
      and(
        eq(loginSessions.id, id),
        eq(loginSessions.userId, deviceLogins.userId),
        isNull(loginSessions.endedAtMs),
        gt(loginSessions.expiresAtMs, sql.placeholder("nowMs")),
      ),
    );

/** Removes at most SWEEP_BATCH_ROWS logins that expired by then. @returns the state that each was left in */
export function removeExpired(tx: Tx, untilMs: number): StoredState[] {
  moveRevision(tx, "access");
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
