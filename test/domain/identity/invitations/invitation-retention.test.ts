// The job that removes invitations long after their links expired.
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { RETENTION_BATCH_ROWS } from "../../../../src/domain/identity/invitations/invitation-retention.ts";
import { INVITATION_TTL_MS } from "../../../../src/domain/identity/model.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { createIdentityWorld, type IdentityWorld, PASSWORD } from "../../../support/identity-world.ts";

const DAYS = 30;
const forget = ({ identity, system }: IdentityWorld, signal = new AbortController().signal) =>
  identity.forgetInvitations(system, { retentionDays: DAYS, signal });
const emails = ({ identity, organizationId }: IdentityWorld) =>
  identity.invitations.list(organizationId, {}).items.map(({ email }) => email);
const invite = ({ identity, operator }: IdentityWorld, email: string) =>
  identity.invitations.create(operator, { email, role: "member" });

test("accepted, canceled and expired invitations are removed after the retention, not before; users stay", async () => {
  await using world = await createIdentityWorld();
  const { invitations, users } = world.identity;
  const accepted = await invite(world, "ann@example.com");
  const canceled = await invite(world, "ben@example.com");
  await invite(world, "eve@example.com");
  await invitations.accept({ token: accepted.token, password: PASSWORD });
  await invitations.cancel(world.operator, canceled.invitation.id);
  world.clock.advance(INVITATION_TTL_MS + DAYS * DAY_MS);
  await invite(world, "new@example.com");
  expect(await forget(world)).toBe(0);
  world.clock.advance(1);
  expect(await forget(world)).toBe(3);
  expect(emails(world)).toEqual(["new@example.com"]);
  expect(users.list(world.organizationId, {}).total).toBe(1);
  expect(world.audited().slice(-2)).toEqual(["invitation.create", "invitation.forget"]);
  expect(await forget(world)).toBe(0);
});

test("a renewed one is kept", async () => {
  await using world = await createIdentityWorld();
  const { invitation } = await invite(world, "eve@example.com");
  world.clock.advance(DAYS * DAY_MS);
  await world.identity.invitations.resend(world.operator, invitation.id);
  world.clock.advance(2 * DAY_MS);
  expect(await forget(world)).toBe(0);
});

test.each([RETENTION_BATCH_ROWS - 1, RETENTION_BATCH_ROWS, RETENTION_BATCH_ROWS + 1])(
  "%d of them are removed, a batch for each audit entry",
  async (count) => {
    await using world = await createIdentityWorld();
    await world.db.write((tx) => {
      tx.run(sql`INSERT INTO invitations (id, organization_id, email, email_key, role, status, token_hash, expires_at_ms, created_at_ms)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
        SELECT 'i' || i, ${world.organizationId}, 'e' || i, 'e' || i, 'member', 'canceled', 't' || i, 1, 1 FROM n`);
    });
    expect(await forget(world)).toBe(count);
    expect(world.audited()).toHaveLength(Math.ceil(count / RETENTION_BATCH_ROWS));
  },
);

test("an aborted run removes nothing more", async () => {
  await using world = await createIdentityWorld();
  await invite(world, "eve@example.com");
  world.clock.advance(INVITATION_TTL_MS + (DAYS + 1) * DAY_MS);
  expect(await forget(world, AbortSignal.abort())).toBe(0);
  expect(emails(world)).toEqual(["eve@example.com"]);
});
