// The sweep: expired rows are removed in bounded batches; active rows, and rows that others refer to, are kept.
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import {
  DEVICE_LOGIN_KEPT_MS,
  ENDED_LOGIN_KEPT_MS,
  SWEEP_BATCH_ROWS,
} from "../../../src/domain/access/model.ts";
import { sweepLogins } from "../../../src/domain/access/sweep.ts";
import {
  budgets,
  deviceLogins,
  grants,
  loginSessions,
  refreshTokens,
} from "../../../src/domain/access/tables.ts";
import { REFRESH_GRACE_SECONDS } from "../../../src/domain/access/tokens/refresh-token.ts";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import {
  createLoginWorld,
  type LoginWorld,
  logIn,
  redeem,
  refresh,
  refusalOf,
  requestLogin,
  revokedReasonOf,
} from "./login-world.ts";

const sweep = (world: LoginWorld, signal: AbortSignal = new AbortController().signal) =>
  sweepLogins(world, signal);

const rowsIn = (world: LoginWorld) => ({
  deviceLogins: world.db.read.select().from(deviceLogins).all().length,
  refreshTokens: world.db.read.select().from(refreshTokens).all().length,
  grants: world.db.read.select().from(grants).all().length,
  loginSessions: world.db.read.select().from(loginSessions).all().length,
  budgets: world.db.read.select().from(budgets).all().length,
});

test("active rows stay", async () => {
  await using world = await createLoginWorld();
  await logIn(world);
  await requestLogin(world);
  const before = rowsIn(world);
  await sweep(world);
  expect(rowsIn(world)).toEqual(before);
});

test("an expired device login returns expired_token until it is swept, and is then unknown", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestLogin(world);
  world.clock.advance(600 * SECOND_MS + DEVICE_LOGIN_KEPT_MS - 1);
  await sweep(world);
  expect(await refusalOf(redeem(world, deviceCode))).toBe("expired_token");
  world.clock.advance(1);
  expect(await sweep(world)).toMatchObject({ deviceLogins: 1, expiredDeviceLogins: 1 });
  expect(await refusalOf(redeem(world, deviceCode))).toBe("invalid_grant");
});

test("a grant stays visible for a while after its end, and its session as long as the grant", async () => {
  await using world = await createLoginWorld();
  await logIn(world);
  world.clock.advance(world.settings.refreshTokenTtlSeconds * SECOND_MS + ENDED_LOGIN_KEPT_MS - 1);
  const redeemed = { deviceLogins: 1, expiredDeviceLogins: 0 };
  expect(await sweep(world)).toMatchObject({ ...redeemed, grants: 0, loginSessions: 0 });
  world.clock.advance(1);
  expect(await sweep(world)).toMatchObject({ grants: 1, loginSessions: 1 });
  expect(rowsIn(world)).toEqual({
    deviceLogins: 0,
    refreshTokens: 0,
    grants: 0,
    loginSessions: 0,
    budgets: 0,
  });
});

test("the rotated tokens of an inactive family are removed, and their reuse still reveals a theft", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  const { refresh_token: next } = await refresh(world, refreshToken);
  world.clock.advance(REFRESH_GRACE_SECONDS * SECOND_MS);
  expect((await sweep(world)).refreshTokens).toBe(0);
  world.clock.advance(1);
  expect((await sweep(world)).refreshTokens).toBe(1);
  expect(rowsIn(world).refreshTokens).toBe(1);
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
  expect(revokedReasonOf(world, grantId)).toBe("refresh_token_reused");
  expect(await refusalOf(refresh(world, next))).toBe("invalid_grant");
});

const fillExpired = (world: LoginWorld, rows: number) =>
  world.db.write((tx) =>
    tx.run(sql`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      INSERT INTO device_logins
        (id, device_code_hash, user_code_hash, link_hash, client_id, scope, state, created_at_ms, expires_at_ms)
      SELECT i, i, i, i, 'x', 'x', 'pending', 0, 0 FROM n`),
  );

test.each([SWEEP_BATCH_ROWS - 1, SWEEP_BATCH_ROWS, SWEEP_BATCH_ROWS + 1])(
  "%p dead rows are all removed",
  async (rows) => {
    await using world = await createLoginWorld();
    await fillExpired(world, rows);
    expect((await sweep(world)).deviceLogins).toBe(rows);
  },
);

test("removes at most SWEEP_BATCH_ROWS rows in a transaction, and an aborted run keeps the rest", async () => {
  await using world = await createLoginWorld();
  await fillExpired(world, SWEEP_BATCH_ROWS + 1);
  const abort = new AbortController();
  const swept = sweep(world, abort.signal);
  abort.abort();
  expect((await swept).deviceLogins).toBe(SWEEP_BATCH_ROWS);
  expect(rowsIn(world).deviceLogins).toBe(1);
});
