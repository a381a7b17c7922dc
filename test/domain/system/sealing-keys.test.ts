// Replacing the sealing key: which secrets are sealed with which key, and that everything can be opened before, during and after
// re-sealing. Keys are files; the areas create signing keys and gateway keys.
import { expect, test } from "bun:test";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { accessSecrets, SigningKeys } from "../../../src/domain/access/tokens/signing-keys.ts";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { createInferenceKeys } from "../../../src/domain/gateway/inference/inference.ts";
import { findKey } from "../../../src/domain/gateway/keys/store.ts";
import { gatewaySecrets } from "../../../src/domain/gateway/sealing/rewrap.ts";
import { openCredential } from "../../../src/domain/gateway/sealing/sealed-credential.ts";
import { gatewayKeys } from "../../../src/domain/gateway/tables.ts";
import type { User } from "../../../src/domain/identity/service.ts";
import { REWRAP_BATCH, REWRAP_JOB, SealingKeys } from "../../../src/domain/system/sealing-keys.ts";
import { HOUR_MS } from "../../../src/platform/clock.ts";
import { openSealing, type Sealing } from "../../../src/platform/crypto/sealing.ts";
import { addJob, findJob } from "../../../src/platform/scheduler/store.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { reasonOf } from "../../support/identity-world.ts";
import { createGatewayWorld, type GatewayWorld, SETTINGS } from "../gateway/gateway-world.ts";

const settings = { accessTokenTtlSeconds: 900, signingKeyRotationDays: 30 };
const NEVER = new AbortController().signal;

interface SealingWorld extends GatewayWorld {
  keys: SealingKeys;
  user: User;
}

/** A world with a signing key of each ring and a gateway key, sealed with the first sealing key. */
async function createSealingWorld(): Promise<SealingWorld> {
  const world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await world.gateway.keys.ensure({ actor: world.operator, user, manual: false });
  await ringsOf(world).access.ensure(world.system);
  await ringsOf(world).inference.ensure(world.system);
  return Object.assign(world, { keys: keysOf(world), user });
}

const keysOf = (world: GatewayWorld, sealing: Sealing = world.sealing): SealingKeys =>
  new SealingKeys({
    requireConfirmation: () => {},
    ...world,
    sealing,
    secrets: [accessSecrets({ sealing }), ...gatewaySecrets({ sealing })],
  });

/** The rings of a newly started process. */
function ringsOf(world: GatewayWorld) {
  const machine = {
    ...world,
    sealing: openSealing({ directory: join(world.directory, "keys"), ids: world.ids }),
  };
  return {
    access: new SigningKeys({ ...machine, settings }),
    inference: createInferenceKeys(machine, SETTINGS.inferenceJwt),
  };
}

const credentialOf = (world: SealingWorld, { id }: User = world.user): string | undefined => {
  const row = findKey(world.db.read, id);
  return row && openCredential(world.sealing, row)?.reveal();
};

const totals = ({ keys }: SealingWorld) => keys.list().map(({ state, total }) => [state, total]);

const entriesOf = (world: GatewayWorld, action: string) =>
  world.db.read
    .select()
    .from(auditEntries)
    .where(eq(auditEntries.action, action))
    .orderBy(asc(auditEntries.id))
    .all()
    .map(({ target, before, after }) => ({
      target,
      before: JSON.parse(before ?? ""),
      after: JSON.parse(after ?? ""),
    }));

test("sealed values are counted by key and kind", async () => {
  await using world = await createSealingWorld();
  const [key, ...others] = world.keys.list();
  expect(others).toEqual([]);
  expect(key).toEqual({
    id: world.sealing.activeKey().id,
    state: "active",
    source: "file",
    path: join(world.directory, "keys/0001.sealing-key"),
    secrets: { signing_keys: 1, gateway_keys: 1, gateway_signing_keys: 1 },
    total: 3,
  });
});

test("the old key keeps its values after a rotation until they are re-sealed", async () => {
  await using world = await createSealingWorld();
  const version = findKey(world.db.read, world.user.id)?.credentialVersion;
  expect(await world.keys.rotate(world.operator)).toMatchObject({ state: "active", total: 0 });
  expect(totals(world)).toEqual([
    ["old", 3],
    ["active", 0],
  ]);
  expect(credentialOf(world)).toBe("sk-1");
  expect(await world.keys.rewrap(world.system, NEVER)).toEqual({ rewrapped: 3, unreadable: 0 });
  expect(totals(world)).toEqual([
    ["old", 0],
    ["active", 3],
  ]);
  expect(await world.keys.rewrap(world.system, NEVER)).toEqual({ rewrapped: 0, unreadable: 0 });
  expect(credentialOf(world)).toBe("sk-1");
  expect(findKey(world.db.read, world.user.id)?.credentialVersion).toBe(version ?? "");
});

test("opens everything without the old key file after re-sealing", async () => {
  await using world = await createSealingWorld();
  await world.keys.rotate(world.operator);
  await world.keys.rewrap(world.system, NEVER);
  renameSync(join(world.directory, "keys/0001.sealing-key"), join(world.directory, "kept-elsewhere"));
  expect(totals(world)).toEqual([["active", 3]]);
  expect(credentialOf(world)).toBe("sk-1");
  const { access, inference } = ringsOf(world);
  expect(() => [access.signer(), inference.signer()]).not.toThrow();
});

test("a key that is renewed upstream during re-sealing keeps its new value", async () => {
  await using world = await createSealingWorld();
  world.upstream.hold();
  const request = { actor: world.operator, user: world.user };
  world.clock.advance(HOUR_MS);
  const validation = world.gateway.keys.validate(request);
  await world.keys.rotate(world.operator);
  await world.keys.rewrap(world.system, NEVER);
  world.upstream.letGo();
  expect((await validation).status.status).toBe("ready");
  expect(credentialOf(world)).toBe("sk-1");
  expect(totals(world)).toEqual([
    ["old", 0],
    ["active", 3],
  ]);
});

test("batches below, at and above their size are re-sealed completely", async () => {
  await using world = await createSealingWorld();
  const users = [world.user];
  while (users.length <= REWRAP_BATCH) {
    const user = await world.addUser(`user-${users.length}@example.org`);
    await world.gateway.keys.ensure({ actor: world.operator, user, manual: false });
    users.push(user);
  }
  const batches: number[][] = [];
  for (const total of [REWRAP_BATCH + 1, REWRAP_BATCH, REWRAP_BATCH - 1]) {
    const gone = users.splice(total);
    for (const user of gone) await world.gateway.keys.revoke({ actor: world.operator, user });
    await world.keys.rotate(world.operator);
    const before = entriesOf(world, "sealing_key.rewrap").length;
    expect((await world.keys.rewrap(world.system, NEVER)).rewrapped).toBe(total + 2);
    const entries = entriesOf(world, "sealing_key.rewrap").slice(before);
    batches.push(entries.flatMap(({ after }) => (after.secrets === "gateway_keys" ? [after.rewrapped] : [])));
    for (const [index, user] of users.entries()) expect(credentialOf(world, user)).toBe(`sk-${index + 1}`);
  }
  expect(batches).toEqual([[REWRAP_BATCH, 1], [REWRAP_BATCH], [REWRAP_BATCH - 1]]);
});

test("the next run finishes work that was aborted", async () => {
  await using world = await createSealingWorld();
  await world.keys.rotate(world.operator);
  expect(await world.keys.rewrap(world.system, AbortSignal.abort())).toEqual({ rewrapped: 0, unreadable: 0 });
  expect(await world.keys.rewrap(world.system, NEVER)).toEqual({ rewrapped: 3, unreadable: 0 });
});

test("a value that cannot be opened is kept and reported, and the rest is re-sealed", async () => {
  await using world = await createSealingWorld();
  const { sealedCredential } = findKey(world.db.read, world.user.id) ?? {};
  await world.db.write((tx) => {
    const damaged = { sealedCredential: `${sealedCredential?.slice(0, -4)}AAAA` };
    tx.update(gatewayKeys).set(damaged).run();
  });
  await world.keys.rotate(world.operator);
  expect(await world.keys.rewrap(world.system, NEVER)).toEqual({ rewrapped: 2, unreadable: 1 });
  expect(world.keys.list().map(({ secrets }) => secrets)).toEqual([
    { signing_keys: 0, gateway_keys: 1, gateway_signing_keys: 0 },
    { signing_keys: 1, gateway_keys: 0, gateway_signing_keys: 1 },
  ]);
});

test("an unavailable key is listed as missing and prevents a rotation", async () => {
  await using world = await createSealingWorld();
  const { id } = world.sealing.activeKey();
  renameSync(join(world.directory, "keys/0001.sealing-key"), join(world.directory, "kept-elsewhere"));
  const keys = keysOf(world, openSealing({ directory: join(world.directory, "keys"), ids: world.ids }));
  expect(keys.list()).toMatchObject([
    { id, state: "missing", source: null, path: null, total: 3 },
    { state: "active", total: 0 },
  ]);
  expect(await reasonOf(() => keys.checkRotate())).toBe("sealing.key_missing");
  expect(await reasonOf(() => keys.rotate(world.operator))).toBe("sealing.key_missing");
  expect(await keys.rewrap(world.system, NEVER)).toEqual({ rewrapped: 0, unreadable: 0 });
});

test("a configured key takes over from a file and is not rotated here", async () => {
  await using world = await createSealingWorld();
  const directory = join(world.directory, "keys");
  const provided = new Secret(Buffer.from(world.ids.bytes(32)).toString("base64"));
  const keys = keysOf(world, openSealing({ directory, ids: world.ids, provided }));
  expect(await reasonOf(() => keys.rotate(world.operator))).toBe("sealing.key_provided");
  expect(await keys.rewrap(world.system, NEVER)).toEqual({ rewrapped: 3, unreadable: 0 });
  expect(keys.list()).toMatchObject([
    { state: "old", source: "file", total: 0 },
    { state: "active", source: "configuration", path: null, total: 3 },
  ]);
});

test("a key file that an operator adds takes over", async () => {
  await using world = await createSealingWorld();
  const foreign = join(world.directory, "foreign");
  mkdirSync(foreign);
  writeFileSync(join(foreign, "0002.sealing-key"), `${Buffer.alloc(32, 7).toString("base64")}\n`, {
    mode: 0o600,
  });
  renameSync(join(foreign, "0002.sealing-key"), join(world.directory, "keys/0002.sealing-key"));
  expect(await world.keys.rewrap(world.system, NEVER)).toEqual({ rewrapped: 3, unreadable: 0 });
  expect(totals(world)).toEqual([
    ["old", 0],
    ["active", 3],
  ]);
});

test("a rotation is in the audit log and makes the service start immediately", async () => {
  await using world = await createSealingWorld();
  const nowMs = world.clock.nowMs();
  await world.db.write((tx) => addJob(tx, REWRAP_JOB, nowMs + HOUR_MS));
  const before = { id: world.sealing.activeKey().id };
  await world.keys.rotate(world.operator);
  const after = { id: world.sealing.activeKey().id };
  expect(findJob(world.db.read, REWRAP_JOB)?.nextRunAtMs).toBe(nowMs);
  expect(entriesOf(world, "sealing_key.rotate")).toEqual([{ target: after.id, before, after }]);
  await world.keys.rewrap(world.system, NEVER);
  expect(entriesOf(world, "sealing_key.rewrap")).toEqual(
    ["signing_keys", "gateway_keys", "gateway_signing_keys"].map((secrets) => ({
      target: after.id,
      before,
      after: { ...after, secrets, rewrapped: 1 },
    })),
  );
});
