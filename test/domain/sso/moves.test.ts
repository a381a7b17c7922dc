// Replacing an identity provider: the users of the former one are prepared for the new one, and only they get their accounts back.
import { expect, test } from "bun:test";
import { EXPECTED_TTL_MS, type Move } from "../../../src/domain/sso/identities/moves.ts";
import { createSsoWorld, ISSUER, type SsoWorld } from "./sso-world.ts";

const FORMER = "https://former.example.org";
const MOVE: Move = { fromIssuer: FORMER, toIssuer: ISSUER, by: "email" };

const operator = ({ world }: SsoWorld) => ({ ...world.system, kind: "operator" as const, label: "olga" });

/** @returns a site on which an administrator and a member were linked at the former provider */
async function createMovedSite() {
  const site = await createSsoWorld();
  const ben = await site.signedIn("admin", { email: "ben@example.org" });
  const eve = await site.signedIn("member", { email: "eve@example.org" });
  for (const { user } of [ben, eve]) {
    const link = { userId: user.id, issuer: FORMER, subject: `former-${user.id}` };
    await site.domain.sso.identities.create(operator(site), link);
  }
  const { moves, identities } = site.domain.sso;
  const signIn = (claims: Record<string, unknown>) =>
    site.signIn({ sub: `new-${String(claims.email)}`, ...claims });
  return Object.assign(site, { ben: ben.user, eve: eve.user, moves, identities, signInHere: signIn });
}

const BEN = { email: "ben@example.org" };

test("SSO-44 a moved user is linked once by the verified address, and the former link stays", async () => {
  await using site = await createMovedSite();
  expect(await site.signInHere(BEN)).toBe("password_needed");
  const { prepared, left } = await site.moves.move(operator(site), MOVE);
  expect([prepared.length, left]).toEqual([2, []]);
  expect(await site.signInHere({ ...BEN, email_verified: false })).toBe("sso.email_unverified");
  expect(await site.signInHere({ email: "ben@example.org.evil.example" })).toBe("sso.not_provisioned");
  expect(await site.signInHere(BEN)).toBe(BEN.email);
  expect(site.identities.list({ userId: site.ben.id, limit: 9 }).items).toMatchObject([
    { issuer: FORMER, linkedBy: "operator" },
    { issuer: ISSUER, subject: "new-ben@example.org", linkedBy: "operator" },
  ]);
  expect(await site.signInHere({ ...BEN, sub: "another person" })).toBe("sso.user_conflict");
  expect(site.moves.plan(operator(site), MOVE)).toMatchObject({
    linkedBefore: 1,
    prepared: [{ id: site.eve.id }],
  });
});

test("SSO-44 an unlinked user is no longer expected, because the link used up the move", async () => {
  await using site = await createMovedSite();
  await site.moves.move(operator(site), MOVE);
  expect(await site.signInHere(BEN)).toBe(BEN.email);
  await site.identities.remove(operator(site), { userId: site.ben.id, issuer: ISSUER });
  expect(await site.signInHere({ ...BEN, sub: "another person" })).toBe("password_needed");
});

test("SSO-44 a move is for one issuer and for 30 days, and a repetition restarts the 30 days", async () => {
  await using site = await createMovedSite();
  const { clock } = site.world;
  await site.moves.move(operator(site), { ...MOVE, toIssuer: "https://third.example.org" });
  expect(await site.signInHere(BEN)).toBe("password_needed");
  await site.moves.move(operator(site), MOVE);
  clock.advance(EXPECTED_TTL_MS - 1);
  expect(await site.signInHere({ email: "eve@example.org" })).toBe("eve@example.org");
  clock.advance(1);
  expect(await site.signInHere(BEN)).toBe("password_needed");
  await site.moves.move(operator(site), MOVE);
  expect(await site.moves.sweep()).toBe(2);
  expect(await site.signInHere(BEN)).toBe(BEN.email);
});

test("SSO-44 a suspended user, and a user that only SCIM may create, are refused as before", async () => {
  await using site = await createMovedSite();
  await site.moves.move(operator(site), MOVE);
  await site.domain.identity.users.setStatus(operator(site), site.eve.id, "suspended");
  expect(await site.signInHere({ email: "eve@example.org" })).toBe("sso.user_inactive");
  site.configure({ provisioning: "scim" });
  expect(await site.signInHere(BEN)).toBe("sso.not_provisioned");
});

test("SSO-44 a lookup by external id writes nothing, and users without an external id are left to the operator", async () => {
  await using site = await createMovedSite();
  const id = await site.provision("ana@example.org", { externalId: "oid-1" });
  await site.identities.create(operator(site), { userId: id, issuer: FORMER, subject: "a" });
  const { prepared, left } = await site.moves.move(operator(site), { ...MOVE, by: "external_id" });
  expect(prepared.map(({ email }) => email)).toEqual(["ana@example.org"]);
  expect(left.map(({ email }) => email).toSorted()).toEqual(["ben@example.org", "eve@example.org"]);
  expect(await site.signInHere(BEN)).toBe("password_needed");
  site.configure({ externalIdClaim: "oid" });
  expect(await site.signInHere({ email: "renamed@example.org", oid: "oid-1" })).toBe("ana@example.org");
});

test("SSO-44 nothing moves to the same issuer, or from one without links", async () => {
  await using site = await createMovedSite();
  const reasonOf = (move: Move) => {
    try {
      return site.moves.plan(operator(site), move);
    } catch (error) {
      return Object(error).reason;
    }
  };
  expect(reasonOf({ ...MOVE, toIssuer: FORMER })).toBe("identity.same_issuer");
  expect(reasonOf({ ...MOVE, fromIssuer: `${FORMER}/` })).toBe("identity.not_found");
});

test("SSO-7 an operator withdraws what is expected of a user, also by unlinking at the former provider", async () => {
  await using site = await createMovedSite();
  for (const issuer of [ISSUER, FORMER]) {
    await site.moves.move(operator(site), MOVE);
    site.identities.checkRemove(operator(site), { userId: site.ben.id, issuer });
    const { accessToken: token } = await site.signInAgain(site.ben);
    await site.identities.remove(operator(site), { userId: site.ben.id, issuer });
    expect((await site.request("GET", "/auth/me", { token })).status).toBe(401);
    expect(await site.signInHere(BEN)).toBe("password_needed");
  }
});

test("SSO-7 a user who becomes an administrator is no longer expected, because the plan did not say so", async () => {
  await using site = await createMovedSite();
  await site.moves.move(operator(site), MOVE);
  await site.domain.identity.users.setRole(operator(site), site.eve.id, "admin");
  expect(await site.signInHere({ email: "eve@example.org" })).toBe("password_needed");
});
