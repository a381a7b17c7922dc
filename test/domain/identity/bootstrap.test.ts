import { expect, test } from "bun:test";
import { ORGANIZATION_NAME_LENGTH_MAX } from "../../../src/domain/identity/model.ts";
import { organizations } from "../../../src/domain/identity/tables.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { createIdentityWorld, type IdentityWorld, PASSWORD, reasonOf } from "../../support/identity-world.ts";

const REQUEST = {
  organizationName: "Example",
  adminEmail: "Root@Example.com",
  adminPassword: PASSWORD,
  generatePassword: false,
};
const WITHOUT_PASSWORD = { ...REQUEST, adminPassword: undefined, generatePassword: true };

async function createEmptyWorld(): Promise<IdentityWorld> {
  const world = await createIdentityWorld();
  await world.db.write((tx) => void tx.delete(organizations).run());
  return world;
}

const adminOf = ({ identity, db }: IdentityWorld) =>
  identity.findUserByEmail(db.read, identity.findOrganization(db.read)?.id ?? "", REQUEST.adminEmail);

test("the first start creates the organization and its protected administrator", async () => {
  await using world = await createEmptyWorld();
  expect(world.identity.findOrganization(world.db.read)).toBeUndefined();
  const result = await world.identity.bootstrap.run(REQUEST);
  const admin = adminOf(world);
  expect(result).toEqual({
    organizationId: world.identity.findOrganization(world.db.read)?.id ?? "",
    admin: { id: admin?.id ?? "", email: "root@example.com" },
    created: true,
  });
  expect(world.identity.findOrganization(world.db.read)?.name).toBe("Example");
  expect(admin).toMatchObject({ role: "admin", status: "active", protected: true });
  expect(await world.identity.isPasswordOf(admin, PASSWORD)).toBe(true);
  expect(world.audited()).toEqual(["organization.create", "user.create"]);
});

test("a generated password is returned on the first start only", async () => {
  await using world = await createEmptyWorld();
  const { generatedPassword } = await world.identity.bootstrap.run(WITHOUT_PASSWORD);
  expect(generatedPassword?.reveal().length).toBeGreaterThanOrEqual(24);
  expect(await world.identity.isPasswordOf(adminOf(world), generatedPassword ?? new Secret(""))).toBe(true);
  expect(await world.identity.bootstrap.run(WITHOUT_PASSWORD)).not.toHaveProperty("generatedPassword");
});

test("a start with nothing to change writes nothing", async () => {
  await using world = await createEmptyWorld();
  const first = await world.identity.bootstrap.run(REQUEST);
  const before = { audited: world.audited(), revision: world.db.revision("access") };
  world.clock.advance(1_000);
  const again = { ...REQUEST, adminEmail: "ROOT@example.com", organizationName: "Other" };
  expect(await world.identity.bootstrap.run(again)).toEqual({ ...first, created: false });
  expect({ audited: world.audited(), revision: world.db.revision("access") }).toEqual(before);
});

test("an existing password is never replaced", async () => {
  await using world = await createEmptyWorld();
  await world.identity.bootstrap.run(REQUEST);
  await world.setUser(adminOf(world)?.id ?? "", { role: "member" });
  await world.identity.bootstrap.run({ ...REQUEST, adminPassword: new Secret("another long password") });
  expect(adminOf(world)?.role).toBe("admin");
  expect(await world.identity.isPasswordOf(adminOf(world), PASSWORD)).toBe(true);
});

test("a later start makes the configured user an active protected administrator and ends old logins", async () => {
  await using world = await createIdentityWorld();
  const ann = await world.addUser("root@example.com", { status: "suspended" });
  const result = await world.identity.bootstrap.run(WITHOUT_PASSWORD);
  expect(result).toEqual({
    organizationId: world.organizationId,
    admin: { id: ann.id, email: ann.email },
    created: false,
  });
  expect(adminOf(world)).toMatchObject({ role: "admin", status: "active", protected: true });
  expect(world.endings.map(({ userId }) => userId)).toEqual([ann.id]);
  expect(world.audited()).toEqual(["user.create", "user.update"]);
});

test("a start that names another user releases the former one, who can be removed then", async () => {
  await using world = await createEmptyWorld();
  await world.identity.bootstrap.run(REQUEST);
  const former = adminOf(world)?.id ?? "";
  const operator = { ...world.operator, organizationId: world.identity.organization()?.id ?? "" };
  const remove = () => world.identity.users.remove(operator, former);
  expect(await reasonOf(remove)).toBe("user.protected");
  const second = { ...REQUEST, adminEmail: "second@example.com" };
  expect(world.identity.bootstrap.needs(second)).toMatchObject({
    administrator: true,
    released: ["root@example.com"],
  });
  expect((await world.identity.bootstrap.run(second)).created).toBe(false);
  expect(adminOf(world)).toMatchObject({ protected: false, role: "admin" });
  expect(world.endings).toEqual([]);
  expect(world.audited()).toEqual(["organization.create", "user.create", "user.create", "user.update"]);
  await remove();
  expect(adminOf(world)).toMatchObject({ status: "removed" });
});

test("a start without a chosen address keeps the administrator of the installation, and creates no other", async () => {
  await using world = await createEmptyWorld();
  await world.identity.bootstrap.run(REQUEST);
  const before = world.audited();
  const later = { ...REQUEST, adminEmail: "admin@example.com", isDefaultEmail: true };
  expect(world.identity.bootstrap.needs(later)).toEqual({
    organization: false,
    administrator: false,
    password: false,
    released: [],
  });
  const { admin, created, generatedPassword } = await world.identity.bootstrap.run(later);
  expect([admin.email, created, generatedPassword]).toEqual(["root@example.com", false, undefined]);
  expect(adminOf(world)).toMatchObject({ protected: true });
  expect(world.audited()).toEqual(before);
});

test("the first start without a chosen address takes the default one", async () => {
  await using world = await createEmptyWorld();
  const { admin } = await world.identity.bootstrap.run({ ...REQUEST, isDefaultEmail: true });
  expect(admin.email).toBe("root@example.com");
});

test("a start releases a former administrator of an older version", async () => {
  await using world = await createEmptyWorld();
  await world.identity.bootstrap.run(REQUEST);
  const operator = { ...world.operator, organizationId: world.identity.organization()?.id ?? "" };
  const { user } = await world.identity.users.create(operator, { email: "old@example.com", role: "admin" });
  await world.setUser(user.id, { protected: true });
  expect(world.identity.bootstrap.needs(REQUEST)).toEqual({
    organization: false,
    administrator: false,
    password: false,
    released: ["old@example.com"],
  });
  await world.identity.bootstrap.run(REQUEST);
  expect(world.identity.bootstrap.needs(REQUEST).released).toEqual([]);
  expect(adminOf(world)).toMatchObject({ protected: true });
  expect(world.audited().at(-1)).toBe("user.update");
});

test("reports an unused name and password of a later start", async () => {
  await using world = await createEmptyWorld();
  await world.identity.bootstrap.run(REQUEST);
  const differences = (changed: object) => world.identity.bootstrap.differences({ ...REQUEST, ...changed });
  expect(await differences({})).toEqual({ organizationName: false, adminPassword: false });
  expect(await differences({ organizationName: "Other", adminPassword: undefined })).toEqual({
    organizationName: true,
    adminPassword: false,
  });
  expect(await differences({ adminPassword: new Secret("another long password") })).toEqual({
    organizationName: false,
    adminPassword: true,
  });
});

test("the organization is renamed once, and the log has both names", async () => {
  await using world = await createIdentityWorld();
  const { renameOrganization, organization } = world.identity;
  const before = organization()?.name ?? "";
  const longest = "n".repeat(ORGANIZATION_NAME_LENGTH_MAX);
  expect(await renameOrganization(world.operator, ` ${longest} `)).toBe(before);
  expect(organization()?.name).toBe(longest);
  expect(await renameOrganization(world.operator, longest)).toBe(longest);
  expect(world.audited()).toEqual(["organization.rename"]);
  for (const refused of [" ", `${longest}n`])
    expect(() => renameOrganization(world.operator, refused)).toThrow("1 to");
});

test("a removed administrator returns under a new subject with a new password", async () => {
  await using world = await createIdentityWorld();
  const before = await world.addUser("root@example.com");
  await world.identity.users.remove(world.operator, before.id);
  await world.identity.bootstrap.run(REQUEST);
  expect(adminOf(world)).toMatchObject({ id: before.id, status: "active", protected: true });
  expect(adminOf(world)?.subject).not.toBe(before.subject);
  expect(await world.identity.isPasswordOf(adminOf(world), PASSWORD)).toBe(true);
});

test("a user without a password receives the configured one", async () => {
  await using world = await createIdentityWorld();
  await world.addUser("root@example.com", { passwordHash: null });
  await world.identity.bootstrap.run(REQUEST);
  expect(await world.identity.isPasswordOf(adminOf(world), PASSWORD)).toBe(true);
});

test("two first starts at the same moment agree on one administrator", async () => {
  await using world = await createEmptyWorld();
  const results = await Promise.all([
    world.identity.bootstrap.run(WITHOUT_PASSWORD),
    world.identity.bootstrap.run(WITHOUT_PASSWORD),
  ]);
  expect(new Set(results.map(({ admin }) => admin.id)).size).toBe(1);
  const shown = results.flatMap(({ generatedPassword }) => generatedPassword ?? []);
  expect(shown).toHaveLength(1);
  expect(await world.identity.isPasswordOf(adminOf(world), shown[0] ?? new Secret(""))).toBe(true);
});

test("a first start without any password is refused and creates nothing", async () => {
  await using world = await createEmptyWorld();
  const request = { ...WITHOUT_PASSWORD, generatePassword: false };
  expect(await reasonOf(() => world.identity.bootstrap.run(request))).toBe("bootstrap.password_missing");
  expect(world.identity.findOrganization(world.db.read)).toBeUndefined();
});

test("names all problems of the configuration by their keys", async () => {
  await using world = await createEmptyWorld();
  const start = world.identity.bootstrap.run({
    organizationName: " ",
    adminEmail: "root",
    adminPassword: new Secret("short"),
    generatePassword: false,
  });
  await expect(start).rejects.toMatchObject({
    problems: [
      { pointer: "/bootstrap/organization_name" },
      { pointer: "/bootstrap/admin_email" },
      { pointer: "/bootstrap/admin_password" },
    ],
  });
});

test.each([
  [ORGANIZATION_NAME_LENGTH_MAX - 1, true],
  [ORGANIZATION_NAME_LENGTH_MAX, true],
  [ORGANIZATION_NAME_LENGTH_MAX + 1, false],
])("an organization name of %p characters is accepted: %p", async (length, accepted) => {
  await using world = await createEmptyWorld();
  const result = await reasonOf(() =>
    world.identity.bootstrap.run({ ...REQUEST, organizationName: "x".repeat(length) }),
  );
  expect(result !== "identity.invalid").toBe(accepted);
});

test("the status names mode and provisioning, not the secret", async () => {
  await using world = await createIdentityWorld({
    mode: "oidc",
    groupRoleMappings: { Platform: "admin" },
  });
  expect(world.identity.identityStatus(true)).toEqual({
    auth_mode: "oidc",
    scim: { configured: true, group_role_mappings: { Platform: "admin" } },
  });
});

test("previews what a start would create, and nothing exactly if a start would only read", async () => {
  await using world = await createEmptyWorld();
  const { identity } = world;
  const all = { organization: true, administrator: true, password: true, released: [] };
  expect(identity.bootstrap.needs(WITHOUT_PASSWORD)).toEqual(all);
  expect(world.audited()).toEqual([]);
  await identity.bootstrap.run(WITHOUT_PASSWORD);
  const none = { organization: false, administrator: false, password: false, released: [] };
  expect(identity.bootstrap.needs(WITHOUT_PASSWORD)).toEqual(none);
  const admin = adminOf(world);
  await world.setUser(admin?.id ?? "", { role: "member" });
  expect(identity.bootstrap.needs(REQUEST)).toEqual({ ...none, administrator: true });
  await world.setUser(admin?.id ?? "", { role: "admin", passwordHash: null });
  expect(identity.bootstrap.needs(REQUEST)).toEqual({ ...none, password: true });
  expect(identity.bootstrap.needs({ ...WITHOUT_PASSWORD, generatePassword: false })).toEqual(none);
  await world.setUser(admin?.id ?? "", { status: "removed" });
  expect(identity.bootstrap.needs(REQUEST)).toEqual({ ...none, administrator: true, password: true });
});
