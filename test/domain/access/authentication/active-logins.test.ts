// When the login of a workstation is active: neither its grant nor the browser session that approved it has ended or expired.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createActiveLogins } from "../../../../src/domain/access/authentication/active-logins.ts";
import { grants, loginSessions } from "../../../../src/domain/access/tables.ts";
import { createLoginWorld, logIn } from "../login-world.ts";

const LATER_MS = 1_000;

/** A workstation whose grant and browser session end after these times. */
async function standingWorld({ grantMs, sessionMs }: { grantMs: number; sessionMs: number }) {
  const world = await createLoginWorld();
  await logIn(world); // always active
  const { grantId, browser } = await logIn(world);
  const nowMs = world.clock.nowMs();
  const isGrant = eq(grants.id, grantId);
  const isSession = eq(loginSessions.id, browser.loginSessionId);
  await world.db.write((tx) => {
    tx.update(grants)
      .set({ expiresAtMs: nowMs + grantMs })
      .where(isGrant)
      .run();
    tx.update(loginSessions)
      .set({ expiresAtMs: nowMs + sessionMs })
      .where(isSession)
      .run();
  });
  const find = createActiveLogins(world);
  return { ...world, nowMs, browser, grantId, isGrant, isSession, find: () => find(grantId) };
}

test.each([
  ["the grant", { grantMs: LATER_MS, sessionMs: 2 * LATER_MS }],
  ["the browser sign-in", { grantMs: 2 * LATER_MS, sessionMs: LATER_MS }],
])("a login is active until %s expires", async (_what, times) => {
  await using world = await standingWorld(times);
  const standing = {
    userId: world.user.id,
    loginSessionId: world.browser.loginSessionId,
    expiresAtMs: world.nowMs + LATER_MS,
  };
  world.clock.advance(LATER_MS - 1);
  expect(world.find()).toEqual(standing);
  world.clock.advance(1);
  expect(world.find()).toBeUndefined();
});

test("a login whose grant was revoked is inactive", async () => {
  await using world = await standingWorld({ grantMs: LATER_MS, sessionMs: LATER_MS });
  await world.db.write((tx) => tx.update(grants).set({ revokedAtMs: 1 }).where(world.isGrant).run());
  expect(world.find()).toBeUndefined();
});

test("a login whose browser sign-in was ended is inactive", async () => {
  await using world = await standingWorld({ grantMs: LATER_MS, sessionMs: LATER_MS });
  await world.db.write((tx) => tx.update(loginSessions).set({ endedAtMs: 1 }).where(world.isSession).run());
  expect(world.find()).toBeUndefined();
});
