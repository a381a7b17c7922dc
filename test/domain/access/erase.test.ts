// Erasing a user's logins: every row of that user is removed and counted, and no other row.
import { expect, test } from "bun:test";
import { eraseLogins } from "../../../src/domain/access/erase.ts";
import { budgets, deviceLogins, grants, loginSessions } from "../../../src/domain/access/tables.ts";
import { Secret } from "../../../src/platform/secret.ts";
import {
  ADDRESS,
  addUser,
  createLoginWorld,
  decide,
  type LoginWorld,
  logIn,
  refusalOf,
  requestLogin,
  signIn,
} from "./login-world.ts";

function erase(world: LoginWorld, userId: string | undefined, addresses: string[] = []) {
  const { organizationId } = world.user;
  const person = { organizationId, userId, addresses, userNames: [], pseudonym: "erased" };
  const nowMs = world.clock.nowMs();
  return world.db.write((tx) => eraseLogins(tx, { actor: world.system, person, nowMs }), "access");
}

const rowsIn = ({ db: { read } }: LoginWorld): number[] =>
  [loginSessions, grants, deviceLogins].map((table) => read.select().from(table).all().length);

const NO_FACTORS = { authenticator_apps: 0, passkeys: 0, recovery_codes: 0 };

test("the logins of one user are removed, including those that another user opened and this one decides", async () => {
  await using world = await createLoginWorld();
  const bob = await addUser(world, "bob@example.com");
  await logIn(world);
  const login = await requestLogin(world);
  await decide(world, login, { browser: await signIn(world, bob), decision: "approve" });
  expect(await erase(world, world.user.id)).toEqual({
    login_sessions: 1,
    grants: 1,
    device_logins: 1,
    ...NO_FACTORS,
  });
  expect(rowsIn(world)).toEqual([1, 0, 1]);
  await world.db.write((tx) => tx.update(deviceLogins).set({ userId: null }).run(), "access");
  expect(await erase(world, bob.id)).toEqual({
    login_sessions: 1,
    grants: 0,
    device_logins: 1,
    ...NO_FACTORS,
  });
  expect(rowsIn(world)).toEqual([0, 0, 0]);
});

test("a person without an account has no logins, and the count of wrong passwords is removed", async () => {
  await using world = await createLoginWorld();
  await logIn(world);
  const [email, before] = ["nobody@example.com", rowsIn(world)];
  const password = new Secret("wrong");
  await refusalOf(world.sessions.signIn({ email, password, address: ADDRESS, userAgent: null }));
  const budgetsOf = () => world.db.read.select().from(budgets).all().length;
  const counted = budgetsOf();
  expect(await erase(world, undefined, [email])).toEqual({});
  expect([rowsIn(world), budgetsOf()]).toEqual([before, counted - 2]);
});
