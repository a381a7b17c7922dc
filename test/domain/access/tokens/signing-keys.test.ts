// Signing keys: the first one, rotation during which both keys verify, another process that rotates, and what is stored.
import { expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { calculateJwkThumbprint, decodeProtectedHeader } from "jose";
import { signingKeys } from "../../../../src/domain/access/tables.ts";
import { SigningKeys } from "../../../../src/domain/access/tokens/signing-keys.ts";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { DAY_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { openSealing } from "../../../../src/platform/crypto/sealing.ts";
import { START_MS } from "../../../support/world.ts";
import { type AccessWorld, addGrant, createAccessWorld, mintToken, SETTINGS } from "../access-world.ts";
import { isAtRest } from "../at-rest.ts";

const kids = (world: AccessWorld): (string | undefined)[] => world.keys.jwks().keys.map(({ kid }) => kid);
const kidOf = (token: string): string | undefined => decodeProtectedHeader(token).kid;
function isRead(world: AccessWorld, token: string): boolean {
  try {
    world.tokens.read(token);
    return true;
  } catch {
    return false;
  }
}

/** The keys as another process would open them. */
const reopened = ({ db, clock, audit, ids, directory }: AccessWorld) => {
  const sealing = openSealing({ directory: join(directory, "keys"), ids });
  return new SigningKeys({ db, clock, audit, sealing, settings: SETTINGS });
};

test("the first start creates one key, later starts keep it", async () => {
  await using world = await createAccessWorld();
  const before = kids(world);
  expect(before).toHaveLength(1);
  await reopened(world).ensure(world.system);
  await Promise.all([reopened(world).ensure(world.system), reopened(world).ensure(world.system)]);
  expect(kids(world)).toEqual(before);
});

test("several simultaneous first starts create one key", async () => {
  await using world = await createAccessWorld();
  await world.db.write((tx) => tx.delete(signingKeys).run(), "access");
  await Promise.all(Array.from({ length: 4 }, () => reopened(world).ensure(world.system)));
  expect(world.keys.list()).toHaveLength(1);
});

test("a published key has its thumbprint as id and nothing private", async () => {
  await using world = await createAccessWorld();
  const [key] = world.keys.jwks().keys;
  expect(Object.keys(key ?? {}).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
  expect(key).toMatchObject({ alg: "EdDSA", crv: "Ed25519", kty: "OKP", use: "sig" });
  expect(key && (await calculateJwkThumbprint(key))).toBe(key?.kid ?? "");
});

test("after a rotation the next token has the new key, and older tokens keep their lifetime", async () => {
  await using world = await createAccessWorld();
  const grant = await addGrant(world);
  const old = mintToken(world, grant);
  const next = await world.keys.rotate(world.system);
  const fresh = mintToken(world, grant);
  expect(kidOf(fresh)).toBe(next.kid);
  expect(kidOf(old)).not.toBe(next.kid);
  world.clock.advance((SETTINGS.accessTokenTtlSeconds + 60) * SECOND_MS - 1);
  expect([isRead(world, old), isRead(world, fresh)]).toEqual([true, true]);
  expect(kids(world)).toHaveLength(2);
});

test("a retired key verifies until its last token has expired and is then dropped", async () => {
  await using world = await createAccessWorld();
  const [old] = kids(world);
  await world.keys.rotate(world.system);
  const deadAtMs = START_MS + (SETTINGS.accessTokenTtlSeconds + 60) * SECOND_MS;
  world.clock.set(deadAtMs - 1);
  expect(await world.keys.dropDead()).toBe(0);
  expect(kids(world)).toContain(old);
  world.clock.set(deadAtMs);
  expect(kids(world)).not.toContain(old);
  expect(world.keys.find(old ?? "")).toBeUndefined();
  expect(await world.keys.dropDead()).toBe(1);
  expect(world.keys.list().map(({ state }) => state)).toEqual(["active"]);
});

test("the job rotates at the age of the setting, not before, and once", async () => {
  await using world = await createAccessWorld();
  world.clock.advance(SETTINGS.signingKeyRotationDays * DAY_MS - 1);
  expect(await world.keys.rotateIfDue(world.system)).toBeUndefined();
  world.clock.advance(1);
  const both = [world.keys.rotateIfDue(world.system), reopened(world).rotateIfDue(world.system)];
  expect((await Promise.all(both)).filter((key) => key !== undefined)).toHaveLength(1);
  expect(await world.keys.rotateIfDue(world.system)).toBeUndefined();
});

test("a rotation by another process applies to the very next token", async () => {
  await using world = await createAccessWorld();
  const grant = await addGrant(world);
  const old = mintToken(world, grant);
  const script = join(import.meta.dir, "rotate-child.ts");
  const child = Bun.spawn([process.execPath, script, world.file, join(world.directory, "keys")], {
    stderr: "pipe",
  });
  expect(await new Response(child.stderr).text()).toBe("");
  const kid = await new Response(child.stdout).text();
  expect(kidOf(mintToken(world, grant))).toBe(kid);
  expect(kids(world)).toContain(kid);
  expect(isRead(world, old)).toBe(true);
});

test("creation and rotation are in the audit log, by key id", async () => {
  await using world = await createAccessWorld();
  const [first] = kids(world);
  const second = await world.keys.rotate(world.system);
  const entries = world.db.read.select().from(auditEntries).all();
  const about = entries.filter(({ action }) => action.startsWith("signing_key."));
  expect(about.map(({ action, target }) => [action, target])).toEqual([
    ["signing_key.create", first ?? ""],
    ["signing_key.rotate", second.kid],
  ]);
});

test("fails a start without the sealing key, with the remedy, and recovers by a rotation", async () => {
  await using world = await createAccessWorld();
  const token = mintToken(world, await addGrant(world));
  const directory = join(world.directory, "keys");
  for (const name of readdirSync(directory)) rmSync(join(directory, name));
  const keys = reopened(world);
  expect(keys.ensure(world.system)).rejects.toMatchObject({
    kind: "unavailable",
    reason: "signing_key.sealed",
    hint: expect.stringContaining("rotate the signing keys"),
  });
  await keys.rotate(world.system);
  await keys.ensure(world.system);
  expect(isRead(world, token)).toBe(true);
});

test("a key sealed for another row does not open", async () => {
  await using world = await createAccessWorld();
  await world.db.write((tx) => tx.update(signingKeys).set({ kid: "moved" }).run(), "access");
  expect(() => reopened(world).signer()).toThrow("the signing key cannot be opened");
});

test("a private key is stored only sealed, and a retired one is not stored", async () => {
  await using world = await createAccessWorld();
  const sealed = () => world.db.read.select().from(signingKeys).orderBy(signingKeys.retiredAtMs).all();
  expect(sealed()[0]?.sealedPrivateKey).toMatch(/^[0-9a-f]{12}\.[\w-]+$/);
  expect(isAtRest(world.file, "PRIVATE KEY")).toBe(false);
  expect(isAtRest(world.file, '"d":')).toBe(false);
  await world.keys.rotate(world.system);
  const retired = sealed().filter(({ retiredAtMs }) => retiredAtMs !== null);
  expect(retired.map(({ sealedPrivateKey }) => sealedPrivateKey)).toEqual([""]);
});
