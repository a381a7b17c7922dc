// Each statement that ends access changes the revision of the access caches itself, so no caller can forget it.
import { expect, test } from "bun:test";
import * as deviceLoginRows from "../../../src/domain/access/device-login/device-logins-store.ts";
import * as endings from "../../../src/domain/access/logins/end-logins-store.ts";
import * as loginRows from "../../../src/domain/access/logins/logins-store.ts";
import * as sessionRows from "../../../src/domain/access/sign-in/login-sessions-store.ts";
import * as grantRows from "../../../src/domain/access/tokens/grants-store.ts";
import { accessKeyStore as keyRows } from "../../../src/domain/access/tokens/signing-keys-store.ts";
import * as userRows from "../../../src/domain/identity/store.ts";
import type { Tx } from "../../../src/platform/database/database.ts";
import { type AccessWorld, createAccessWorld } from "./access-world.ts";

type Statement = (tx: Tx, world: AccessWorld) => unknown;

const at = { nowMs: 1 };
const NOBODY = "01890000-0000-7000-8000-000000000000";

const STATEMENTS: [string, Statement][] = [
  ["ending sessions", (tx) => endings.endSessions(tx, { userId: "a" }, 1)],
  ["ending other sessions", (tx) => endings.endOtherSessions(tx, { userId: "a", sessionId: "b", ...at })],
  ["removing device logins of sessions", (tx) => endings.removeDeviceLoginsOf(tx, [{ id: "a" }])],
  ["revoking grants", (tx) => endings.revokeGrants(tx, { ids: ["a"] }, { reason: "test", ...at })],
  ["removing device logins", (tx) => endings.removeDeviceLogins(tx, { userId: "a" })],
  ["removing one device login", (tx) => loginRows.removeDeviceLogin(tx, "a")],
  ["replacing the token of a session", (tx) => sessionRows.replaceToken(tx, "a", "b")],
  ["ending the session of a token", (tx) => sessionRows.endByToken(tx, "a", 1)],
  ["removing expired sessions", (tx) => sessionRows.removeExpired(tx, 1)],
  ["removing expired grants", (tx) => grantRows.removeExpired(tx, 1)],
  ["retiring signing keys", (tx) => keyRows.retireActive(tx, { retiredAtMs: 1, verifiesUntilMs: 1 })],
  ["removing dead signing keys", (tx) => keyRows.removeDead(tx, 1)],
  [
    "deciding a device login",
    (tx) =>
      deviceLoginRows.decide(tx, {
        id: NOBODY,
        userId: NOBODY,
        loginSessionId: NOBODY,
        decision: "approve",
        ...at,
      }),
  ],
  ["changing a user", (tx, { user }) => userRows.updateUser(tx, user, { updatedAtMs: 1 })],
];

test.each(STATEMENTS)("%s changes the revision, for any topic of its write", async (_name, statement) => {
  await using world = await createAccessWorld();
  const before = world.db.revision("access");
  await world.db.write((tx) => void statement(tx, world), "clients");
  expect(world.db.revision("access")).toBe(before + 1);
});

test("a change of roles changes the revision if it changes a user's role", async () => {
  await using world = await createAccessWorld();
  const { id } = world.user;
  const before = world.db.revision("access");
  const setRole = (ids: string[]) =>
    world.db.write(
      (tx) => userRows.setProvisionedRole(tx, { ids, role: "admin", updatedAtMs: 1 }),
      "clients",
    );
  expect(await setRole([NOBODY])).toEqual([]);
  expect(world.db.revision("access")).toBe(before);
  await world.db.write(
    (tx) => void userRows.updateUser(tx, world.user, { provisioningSource: "scim", updatedAtMs: 1 }),
  );
  const provisioned = world.db.revision("access");
  expect(await setRole([id])).toEqual([id]);
  expect(world.db.revision("access")).toBe(provisioned + 1);
});
