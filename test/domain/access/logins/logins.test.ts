// The operator's view: one list of three kinds, and what each revocation ends.
import { expect, test } from "bun:test";
import { Logins } from "../../../../src/domain/access/logins/logins.ts";
import { LOGINS_PER_PAGE_MAX } from "../../../../src/domain/access/model.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import {
  addUser,
  afterSeconds,
  audited,
  createLoginWorld,
  type LoginWorld,
  logIn,
  redeem,
  refresh,
  refusalOf,
  requestApproved,
  requestLogin,
  signIn,
} from "../login-world.ts";

const operatorOf = (world: LoginWorld): Actor => ({ ...world.system, kind: "operator", label: "root" });

const reasonOf = (act: () => unknown): Promise<unknown> => refusalOf(Promise.resolve().then(act));

const idsOf = (world: LoginWorld, query: Parameters<LoginWorld["logins"]["list"]>[0] = {}) =>
  world.logins.list(query).items.map(({ id }) => id);

test("the list shows every kind, newest first, with users and without secrets", async () => {
  await using world = await createLoginWorld();
  const { grantId, browser, refreshToken } = await logIn(world);
  const pending = await requestLogin(world);
  const { items } = world.logins.list();
  expect(items.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
    "device_login pending",
    "grant active",
    "login_session active",
  ]);
  const [deviceLogin, grant, session] = items;
  expect(deviceLogin?.user).toBeNull();
  const user = { id: world.user.id, email: "ada@example.com" };
  expect(grant).toMatchObject({ id: grantId, user, loginSessionId: browser.loginSessionId });
  expect(session).toMatchObject({ id: browser.loginSessionId, user });
  const shown = JSON.stringify(items);
  expect(shown).not.toContain("Hash");
  for (const secret of [refreshToken, pending.deviceCode, pending.userCode])
    expect(shown).not.toContain(secret);
});

test("every kind is shown as expired from its expiry time, and not as active", async () => {
  await using world = await createLoginWorld();
  await logIn(world);
  await requestLogin(world);
  const byExpiry = world.logins.list().items.toSorted((one, other) => one.expiresAtMs - other.expiresAtMs);
  expect(byExpiry).toHaveLength(3);
  for (const { id, state, expiresAtMs } of byExpiry) {
    world.clock.advance(expiresAtMs - 1 - world.clock.nowMs());
    expect([world.logins.show(id).state, idsOf(world)]).toEqual([state, expect.arrayContaining([id])]);
    world.clock.advance(1);
    expect(world.logins.show(id).state).toBe("expired");
    expect(idsOf(world)).not.toContain(id);
  }
});

test("ended logins are listed only on request", async () => {
  await using world = await createLoginWorld();
  const { grantId } = await logIn(world);
  await world.logins.revoke(operatorOf(world), grantId);
  expect(idsOf(world)).not.toContain(grantId);
  expect(idsOf(world, { show: "all" })).toContain(grantId);
  expect(world.logins.show(grantId)).toMatchObject({ state: "revoked", endedReason: "revoked_by_operator" });
  const states = world.logins.list({ show: "all" }).items.map(({ state }) => state);
  expect(states.sort()).toEqual(["active", "redeemed", "revoked"]);
  await requestLogin(world);
  afterSeconds(world, 43_200);
  expect(idsOf(world)).toEqual([]);
});

test("pages follow each other without gap or repetition while logins are added", async () => {
  await using world = await createLoginWorld();
  for (let index = 0; index < 5; index += 1) await requestLogin(world);
  const all = idsOf(world);
  const first = world.logins.list({ limit: 2 });
  await requestLogin(world);
  const second = world.logins.list({ limit: 2, after: first.next ?? "" });
  const third = world.logins.list({ limit: 2, after: second.next ?? "" });
  expect([...first.items, ...second.items, ...third.items].map(({ id }) => id)).toEqual(all);
  expect(third.next).toBeNull();
});

test("the list can be filtered by kind and user", async () => {
  await using world = await createLoginWorld();
  const { grantId } = await logIn(world);
  const eve = await addUser(world, "eve@example.com");
  const session = await signIn(world, eve);
  expect(idsOf(world, { kind: "grant" })).toEqual([grantId]);
  expect(idsOf(world, { userId: eve.id })).toEqual([session.loginSessionId]);
});

test("a page holds from 1 to LOGINS_PER_PAGE_MAX logins", async () => {
  await using world = await createLoginWorld();
  const list = (limit: number) => reasonOf(() => world.logins.list({ limit }));
  expect(await list(0)).toBe("logins.invalid");
  expect(await list(1)).toBe("fine");
  expect(await list(1.5)).toBe("logins.invalid");
  expect(await list(LOGINS_PER_PAGE_MAX - 1)).toBe("fine");
  expect(await list(LOGINS_PER_PAGE_MAX)).toBe("fine");
  expect(await list(LOGINS_PER_PAGE_MAX + 1)).toBe("logins.invalid");
});

test("an unknown id is not found", async () => {
  await using world = await createLoginWorld();
  expect(await reasonOf(() => world.logins.show("none"))).toBe("login.not_found");
  expect(await refusalOf(world.logins.revoke(operatorOf(world), "none"))).toBe("login.not_found");
});

test("revoking a grant signs out that workstation only, and is audited once", async () => {
  await using world = await createLoginWorld();
  const one = await logIn(world);
  const other = await logIn(world);
  expect(await world.logins.revoke(operatorOf(world), one.grantId)).toBe(true);
  expect(await world.logins.revoke(operatorOf(world), one.grantId)).toBe(false);
  expect(await refusalOf(refresh(world, one.refreshToken))).toBe("invalid_grant");
  expect(await refusalOf(refresh(world, other.refreshToken))).toBe("fine");
  expect(audited(world, "grant.revoke")).toMatchObject([{ actorKind: "operator", target: one.grantId }]);
});

test("revoking a login session ends the browser and what it approved", async () => {
  await using world = await createLoginWorld();
  const { browser, refreshToken } = await logIn(world);
  const other = await logIn(world);
  await world.logins.revoke(operatorOf(world), browser.loginSessionId);
  expect(world.sessions.find(browser.sessionToken)).toBeUndefined();
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
  expect(await refusalOf(refresh(world, other.refreshToken))).toBe("fine");
  expect(audited(world, "login_session.revoke")).toHaveLength(1);
});

test("revoking an approved device login leaves nothing to redeem", async () => {
  await using world = await createLoginWorld();
  const { deviceCode } = await requestApproved(world);
  const [deviceLogin] = idsOf(world, { kind: "device_login" });
  await world.logins.revoke(operatorOf(world), deviceLogin ?? "");
  expect(await refusalOf(redeem(world, deviceCode))).toBe("invalid_grant");
  expect(audited(world, "device_login.revoke")).toHaveLength(1);
});

test("revoking everything leaves no login of any user", async () => {
  await using world = await createLoginWorld();
  await logIn(world);
  await requestLogin(world);
  await signIn(world, await addUser(world, "eve@example.com"));
  const ended = await world.logins.revokeEverything(operatorOf(world));
  expect(ended).toEqual({ loginSessions: 2, grants: 1, deviceLogins: 1, passwordLinks: 0 });
  expect(idsOf(world)).toEqual([]);
  const after = JSON.stringify({ login_sessions: 2, grants: 1, device_logins: 1, password_links: 0 });
  expect(audited(world, "logins.revoke_all")).toMatchObject([{ after }]);
});

test("revoking everything needs a confirmation before anything ends", async () => {
  await using world = await createLoginWorld();
  const { browser } = await logIn(world);
  const logins = new Logins(world, () => {
    throw new DomainError("forbidden", "access.confirmation_needed", "confirm it first");
  });
  expect(await refusalOf(logins.revokeEverything(browser.actor))).toBe("access.confirmation_needed");
  expect(idsOf(world)).toHaveLength(2);
});
