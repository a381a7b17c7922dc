// A refresh token that was rotated within the grace window returns its existing successor in every process and after every restart
// and change of keys, so that sharing a login is noticed (RFC 9700 section 4.14.2).
import { expect, test } from "bun:test";
import { join } from "node:path";
import { grants, refreshTokens } from "../../../../src/domain/access/tables.ts";
import { REFRESH_GRACE_SECONDS } from "../../../../src/domain/access/tokens/refresh-token.ts";
import { openSealing } from "../../../../src/platform/crypto/sealing.ts";
import { randomToken, sha256Hex } from "../../../../src/platform/ids.ts";
import {
  afterSeconds,
  anotherProcess,
  createLoginWorld,
  type LoginWorld,
  logIn,
  refresh,
  refusalOf,
  revokedReasonOf,
} from "../login-world.ts";

const rowsOf = ({ db }: LoginWorld) => [
  db.read.select().from(grants).all(),
  db.read.select().from(refreshTokens).all(),
];

/** @returns the service after a restart, with the keys in that directory */
function restarted(world: LoginWorld, keys = "keys"): LoginWorld {
  const sealing = openSealing({ directory: join(world.directory, keys), ids: world.ids });
  return { ...world, sealing, grants: anotherProcess({ ...world, sealing }) };
}

test("a repeated exchange yields the successor again and changes nothing", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  const first = await refresh(world, refreshToken);
  const rows = rowsOf(world);
  afterSeconds(world, 10);
  const again = await refresh(world, refreshToken);
  expect(again.refresh_token).toBe(first.refresh_token);
  expect(again.access_token).not.toBe(first.access_token);
  expect(rowsOf(world)).toEqual(rows);
});

test("the access token of a repeated exchange expires with that of the first one", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  const first = await refresh(world, refreshToken);
  afterSeconds(world, 60);
  const again = await refresh(world, refreshToken);
  expect([first.expires_in, again.expires_in]).toEqual([900, 840]);
  expect(again.expires_at).toBe(first.expires_at);
  const { claims } = world.tokens.read(again.access_token);
  expect(claims.exp).toBe(first.expires_at);
});

test("an access token of the shortest lifetime keeps half of it in a repeated exchange", async () => {
  await using world = await createLoginWorld({ settings: { accessTokenTtlSeconds: 60 } });
  const { refreshToken } = await logIn(world);
  await refresh(world, refreshToken);
  afterSeconds(world, 60);
  expect((await refresh(world, refreshToken)).expires_in).toBe(30);
});

test("if the successor was also rotated, the newest token is returned, because an older one would soon be a former token", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  const second = await refresh(world, refreshToken);
  afterSeconds(world, 20);
  const third = await refresh(world, second.refresh_token);
  afterSeconds(world, 20);
  const again = await refresh(world, refreshToken);
  expect([again.refresh_token, again.expires_at]).toEqual([third.refresh_token, third.expires_at]);
  afterSeconds(world, 900);
  expect(await refusalOf(refresh(world, again.refresh_token))).toBe("fine");
  expect(revokedReasonOf(world, grantId)).toBeNull();
});

test("the successor is the same after a restart", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  const { refresh_token: next } = await refresh(world, refreshToken);
  expect((await refresh(restarted(world), refreshToken)).refresh_token).toBe(next);
});

test("the successor and the one after it are the same after a new sealing key", async () => {
  await using world = await createLoginWorld();
  const { refreshToken } = await logIn(world);
  const { refresh_token: second } = await refresh(world, refreshToken);
  world.sealing.addKey();
  expect((await refresh(world, refreshToken)).refresh_token).toBe(second);
  const { refresh_token: third } = await refresh(world, second);
  for (const service of [world, restarted(world)]) {
    expect((await refresh(service, refreshToken)).refresh_token).toBe(third);
    expect((await refresh(service, second)).refresh_token).toBe(third);
  }
});

test("losing the sealing key within the grace window ends no login", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  const { refresh_token: before } = await refresh(world, refreshToken);
  const elsewhere = restarted(world, "other-keys");
  const { refresh_token: after } = await refresh(elsewhere, refreshToken);
  expect(after).not.toBe(before);
  expect((await refresh(elsewhere, refreshToken)).refresh_token).toBe(after);
  for (const token of [before, after]) expect(await refusalOf(refresh(elsewhere, token))).toBe("fine");
  expect(revokedReasonOf(world, grantId)).toBeNull();
});

test("a token exchanged before an upgrade for one that is not derived works to the end of its window", async () => {
  await using world = await createLoginWorld();
  const { refreshToken, grantId } = await logIn(world);
  const random = `${refreshToken.split(".")[0]}.${randomToken(world.ids)}`;
  await world.db.write((tx) => {
    const times = { createdAtMs: world.clock.nowMs(), expiresAtMs: world.clock.nowMs() + 86_400_000 };
    tx.update(refreshTokens).set({ rotatedAtMs: world.clock.nowMs() }).run();
    tx.insert(refreshTokens)
      .values({ grantId, tokenHash: sha256Hex(random), ...times })
      .run();
  });
  afterSeconds(world, REFRESH_GRACE_SECONDS);
  const { refresh_token: derived } = await refresh(world, refreshToken);
  expect((await refresh(world, refreshToken)).refresh_token).toBe(derived);
  for (const token of [random, derived]) expect(await refusalOf(refresh(world, token))).toBe("fine");
  afterSeconds(world, 0.001);
  expect(await refusalOf(refresh(world, refreshToken))).toBe("invalid_grant");
  expect(revokedReasonOf(world, grantId)).toBe("refresh_token_reused");
});

test.each(["the workstation", "the thief"] as const)(
  "a token that was copied within the window ends the login in the next round, where %s refreshes first",
  async (first) => {
    await using world = await createLoginWorld();
    const { refreshToken, grantId } = await logIn(world);
    const own = (await refresh(world, refreshToken)).refresh_token;
    afterSeconds(world, 30);
    const copied = (await refresh(world, refreshToken)).refresh_token;
    afterSeconds(world, 840);
    await refresh(world, first === "the thief" ? copied : own);
    afterSeconds(world, REFRESH_GRACE_SECONDS + 1);
    expect(await refusalOf(refresh(world, first === "the thief" ? own : copied))).toBe("invalid_grant");
    expect(revokedReasonOf(world, grantId)).toBe("refresh_token_reused");
  },
);
