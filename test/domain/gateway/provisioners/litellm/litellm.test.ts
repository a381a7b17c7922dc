// In addition to test/contracts/provisioner-suite.ts: what the built-in provisioner sends to a LiteLLM gateway, which account it
// uses, which keys it treats as managed, and how long a key is valid.
import { describe, expect, test } from "bun:test";
import { EXPIRY_AHEAD_MS } from "../../../../../src/domain/gateway/model.ts";
import { ALIASES_MAX } from "../../../../../src/domain/gateway/provisioners/litellm/litellm-account.ts";
import { PAGE_SIZE, PAGES_MAX } from "../../../../../src/domain/gateway/provisioners/litellm/litellm-api.ts";
import { DAY_MS, HOUR_MS } from "../../../../../src/platform/clock.ts";
import {
  type BuiltinOptions,
  createBuiltinProvisioner,
} from "../../../../support/gateway/builtin-provisioner.ts";
import type { GatewayKey } from "../../../../support/gateway/litellm-gateway.ts";
import { START_MS } from "../../../../support/world.ts";
import { ADA, ALIAS, failureOf, keepKey, MARK, makeKey, revokeKey } from "./litellm-requests.ts";

const LIMITS = {
  models: ["model-a"],
  maxBudget: 12.5,
  budgetDuration: "30d",
  rpmLimit: 60,
  tpmLimit: 100_000,
  maxParallelRequests: 4,
};

/** A provisioner whose gateway has an account for Ada. */
async function start(options: BuiltinOptions = {}) {
  const subject = await createBuiltinProvisioner(options);
  const account = subject.gateway.addUser("ada@example.com", { teams: ["team-1"] });
  const ownKey = (members: Partial<GatewayKey>) =>
    subject.gateway.addKey({ user_id: account.user_id, ...members });
  return { ...subject, account, ownKey };
}

describe("a new key", () => {
  test("names its user and leaves everything that is not configured to the gateway", async () => {
    await using subject = await start();
    const key = await makeKey(subject.provisioner);
    expect(subject.gateway.bodies).toEqual([
      {
        user_id: subject.account.user_id,
        key_alias: ALIAS,
        models: [],
        metadata: MARK,
        key_type: "llm_api",
      },
    ]);
    expect(key).toMatchObject({ alias: ALIAS, expiresAtMs: null, metadata: { team_id: null, models: [] } });
    expect(subject.gateway.accepts(key.credential?.reveal() ?? "")).toBe(true);
  });

  test("has every configured limit", async () => {
    await using subject = await start({ policy: { ...LIMITS, duration: "90d" } });
    const key = await makeKey(subject.provisioner);
    expect(subject.gateway.bodies[0]).toMatchObject({
      models: ["model-a"],
      max_budget: 12.5,
      budget_duration: "30d",
      rpm_limit: 60,
      tpm_limit: 100_000,
      max_parallel_requests: 4,
      duration: "90d",
    });
    expect(key.expiresAtMs).toBe(START_MS + 90 * DAY_MS);
  });

  test("is created in the one team of its user if keys belong to teams", async () => {
    await using subject = await start({ policy: { teamScoped: true } });
    const key = await makeKey(subject.provisioner);
    expect(subject.gateway.bodies[0]).toMatchObject({ team_id: "team-1" });
    expect(key.metadata).toEqual({ team_id: "team-1", models: [] });
  });

  test.each([[[]], [["team-1", "team-2"]]])("is not created for a user in the teams %p", async (teams) => {
    await using subject = await start({ policy: { teamScoped: true } });
    subject.account.teams = teams;
    expect((await failureOf(makeKey(subject.provisioner))).code).toBe("conflict");
    expect(subject.gateway.keys).toEqual([]);
  });

  test.each([
    ["without a zone", "2026-03-01T10:20:30"],
    ["with a space and no zone", "2026-03-01 10:20:30"],
    ["with microseconds and an offset", "2026-03-01T11:20:30.000000+01:00"],
    ["in UTC", "2026-03-01T10:20:30Z"],
  ])("expires at the gateway's time, also %s", async (_, written) => {
    await using subject = await start({ policy: { duration: "90d" }, writeTime: () => written });
    expect((await makeKey(subject.provisioner)).expiresAtMs).toBe(Date.UTC(2026, 2, 1, 10, 20, 30));
  });

  test("uses a key with an unreadable expiry until the gateway refuses it", async () => {
    await using subject = await start({ policy: { duration: "90d" }, writeTime: () => "in spring" });
    expect((await makeKey(subject.provisioner)).expiresAtMs).toBeNull();
  });

  test("never shows its secret as its id, whatever id the gateway returns", async () => {
    await using subject = await start();
    const body = { key: "sk-secret", token: "sk-secret", expires: null };
    subject.gateway.fail("POST /key/generate", { kind: "status", status: 200, body });
    const key = await makeKey(subject.provisioner);
    expect(key.externalId).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("the account", () => {
  test("is distinguished from others whose address contains the user's", async () => {
    await using subject = await start();
    subject.gateway.users.unshift({ user_id: "other", user_email: "not-ada@example.com", teams: [] });
    await makeKey(subject.provisioner);
    expect(subject.gateway.keys[0]?.user_id).toBe(subject.account.user_id);
  });

  test("is one account even if it moves to the next page while the list is read", async () => {
    await using subject = await start();
    const body = (items: unknown[]) => ({ users: items, total_pages: 2 });
    subject.gateway.fail("GET /user/list", { kind: "status", status: 200, body: body([subject.account]) });
    expect((await makeKey(subject.provisioner)).alias).toBe(ALIAS);
  });

  test("is not chosen if two have the address", async () => {
    await using subject = await start();
    subject.gateway.addUser("ADA@example.com");
    expect((await failureOf(makeKey(subject.provisioner))).code).toBe("conflict");
    expect(subject.gateway.keys).toEqual([]);
  });

  test.each([PAGE_SIZE - 1, PAGE_SIZE, 2 * PAGE_SIZE])(
    "is found behind %p others in a list that does not say how many pages it has",
    async (others) => {
      await using subject = await start({ countsPages: false });
      for (let n = 0; n < others; n += 1)
        subject.gateway.users.unshift({
          user_id: `user-${n}`,
          user_email: `${n}-ada@example.com`,
          teams: [],
        });
      expect((await makeKey(subject.provisioner)).alias).toBe(ALIAS);
    },
  );

  test.each([
    [PAGES_MAX - 1, undefined],
    [PAGES_MAX, undefined],
    [PAGES_MAX + 1, "rejected"],
  ])("is searched on %p pages: %p", async (pages, code) => {
    await using subject = await start();
    const others = Array.from({ length: (pages - 1) * PAGE_SIZE }, (_, n) => ({
      user_id: `user-${n}`,
      user_email: `${n}-ada@example.com`,
      teams: [],
    }));
    subject.gateway.users.unshift(...others);
    const outcome = await makeKey(subject.provisioner).then(
      () => undefined,
      (error) => error.code,
    );
    expect(outcome).toBe(code);
  });
});

describe("remains of an earlier attempt", () => {
  test("deletes remaining keys, recognized by name or metadata, also from the second page", async () => {
    await using subject = await start();
    subject.ownKey({ key_alias: `${ALIAS}-${ALIASES_MAX}` });
    subject.ownKey({ key_alias: "renamed", metadata: MARK });
    for (let n = 0; n < PAGE_SIZE; n += 1) subject.ownKey({ key_alias: `mine-${n}` });
    await makeKey(subject.provisioner);
    expect(subject.gateway.aliases().filter((alias) => !alias?.startsWith("mine-"))).toEqual([ALIAS]);
    expect(subject.gateway.keys).toHaveLength(PAGE_SIZE + 1);
  });

  test("keeps keys of other users or tools, or with a similar name", async () => {
    await using subject = await start();
    subject.ownKey({ key_alias: "my own" });
    subject.ownKey({ key_alias: null });
    subject.ownKey({ key_alias: `${ALIAS}-${ALIASES_MAX + 1}` });
    subject.ownKey({ key_alias: `${ALIAS}-old` });
    subject.ownKey({ key_alias: "bob", metadata: { ...MARK, owner_email: "bob@example.com" } });
    subject.ownKey({ key_alias: "tool", metadata: { ...MARK, managed_by: "terraform" } });
    await revokeKey(subject.provisioner, null);
    expect(subject.gateway.keys).toHaveLength(6);
  });

  test("deletes undelivered keys in the next attempt, and names do not grow", async () => {
    await using subject = await start();
    for (let n = 0; n < 3; n += 1) {
      subject.gateway.fail("POST /key/generate", { kind: "late-hang-up", times: 1 });
      expect((await failureOf(makeKey(subject.provisioner))).code).toBe("unavailable");
      expect(subject.gateway.aliases()).toEqual([ALIAS]);
    }
    const key = await makeKey(subject.provisioner);
    expect(subject.gateway.keys.map(({ token }) => token)).toEqual([key.externalId]);
    expect(key.alias).toBe(ALIAS);
  });

  test("must be deleted before another key is created", async () => {
    await using subject = await start();
    await makeKey(subject.provisioner);
    subject.gateway.fail("POST /key/delete", { kind: "status", status: 503 });
    expect((await failureOf(makeKey(subject.provisioner))).code).toBe("unavailable");
    expect(subject.gateway.keys).toHaveLength(1);
  });

  test("deletes keys from every account with the address if no user should have a key", async () => {
    await using subject = await start();
    await makeKey(subject.provisioner);
    const twin = subject.gateway.addUser("ADA@example.com");
    subject.gateway.addKey({ user_id: twin.user_id, metadata: MARK });
    await revokeKey(subject.provisioner, null);
    expect(subject.gateway.keys).toEqual([]);
  });
});

describe("the name of a key", () => {
  test("is the next one if a key outside of the user's list has it", async () => {
    await using subject = await start();
    subject.gateway.addKey({ key_alias: ALIAS });
    expect((await makeKey(subject.provisioner)).alias).toBe(`${ALIAS}-2`);
  });

  test.each([
    [ALIASES_MAX - 2, `${ALIAS}-${ALIASES_MAX - 1}`],
    [ALIASES_MAX - 1, `${ALIAS}-${ALIASES_MAX}`],
    [ALIASES_MAX, "conflict"],
  ])("is found if %p are used: %p", async (taken, outcome) => {
    await using subject = await start();
    for (let n = 1; n <= taken; n += 1)
      subject.gateway.addKey({ key_alias: n === 1 ? ALIAS : `${ALIAS}-${n}` });
    const named = await makeKey(subject.provisioner).then(
      ({ alias }) => alias,
      (error) => error.code,
    );
    expect(named).toBe(outcome);
  });
});

describe("a key that replaces a healthy one", () => {
  test("keeps the healthy one until the service has it revoked, and names do not grow", async () => {
    await using subject = await start();
    let current = await makeKey(subject.provisioner);
    const names = [];
    for (let n = 0; n < 4; n += 1) {
      const next = await makeKey(subject.provisioner, "reconciliation_due");
      expect(subject.gateway.accepts(current.credential?.reveal() ?? "")).toBe(true);
      await revokeKey(subject.provisioner, current.externalId);
      names.push(next.alias);
      current = next;
    }
    expect(names).toEqual([`${ALIAS}-2`, ALIAS, `${ALIAS}-2`, ALIAS]);
  });

  test("is deleted at the next check of the healthy one if its attempt died", async () => {
    await using subject = await start();
    const healthy = await makeKey(subject.provisioner);
    await makeKey(subject.provisioner, "configuration_changed");
    await keepKey(subject.provisioner, healthy);
    expect(subject.gateway.keys.map(({ token }) => token)).toEqual([healthy.externalId]);
  });
});

describe("an existing key", () => {
  test("is unchanged if there is nothing to change", async () => {
    await using subject = await start({ policy: { ...LIMITS, teamScoped: true } });
    const key = await makeKey(subject.provisioner);
    subject.gateway.calls = [];
    await keepKey(subject.provisioner, key);
    expect(subject.gateway.calls).toEqual(["GET /user/list", "GET /key/list", "GET /key/info"]);
  });

  test("gets only what the policy changed, because sending a budget's period again restarts it", async () => {
    await using subject = await start({ policy: LIMITS });
    const key = await makeKey(subject.provisioner);
    subject.gateway.bodies = [];
    const kept = await keepKey(subject.configured({ policy: { ...LIMITS, maxBudget: 20 } }), key);
    expect(subject.gateway.bodies).toEqual([{ key: key.externalId, max_budget: 20 }]);
    expect(kept.credential).toBeUndefined();
  });

  test("gets its name and our metadata back, and keeps those of administrators", async () => {
    await using subject = await start();
    const key = await makeKey(subject.provisioner);
    const [upstream] = subject.gateway.keys;
    const metadata = { guardrails: ["no-secrets"] };
    Object.assign(upstream ?? {}, { key_alias: "renamed", metadata });
    await keepKey(subject.provisioner, key);
    expect(upstream).toMatchObject({
      key_alias: ALIAS,
      metadata: { ...MARK, ...metadata },
    });
  });

  test("gets a lifetime once if one is configured", async () => {
    await using subject = await start();
    const key = await makeKey(subject.provisioner);
    const provisioner = subject.configured({ policy: { duration: "90d" } });
    expect((await keepKey(provisioner, key)).expiresAtMs).toBe(START_MS + 90 * DAY_MS);
    subject.clock.advance(DAY_MS);
    subject.gateway.calls = [];
    expect((await keepKey(provisioner, key)).expiresAtMs).toBe(START_MS + 90 * DAY_MS);
    expect(subject.gateway.calls).not.toContain("POST /key/update");
  });
});

describe("a key that was deleted at the gateway", () => {
  const DELETED: [sign: string, members: Partial<GatewayKey>][] = [
    ["its status", { status: "deleted" }],
    ["its status in capitals", { status: "DELETED" }],
    ["the time of its deletion", { deleted_at: new Date(START_MS).toISOString() }],
    ["its absence from the list of its user", { user_id: "somebody-else" }],
  ];
  test.each(DELETED)("is rejected by %s alone", async (_, members) => {
    await using subject = await start();
    const key = await makeKey(subject.provisioner);
    Object.assign(subject.gateway.keys[0] ?? {}, members);
    expect((await failureOf(keepKey(subject.provisioner, key))).code).toBe("credential_invalid");
  });

  test("stays in use while its status is another word", async () => {
    await using subject = await start();
    const key = await makeKey(subject.provisioner);
    Object.assign(subject.gateway.keys[0] ?? {}, { status: "active", deleted_at: null });
    expect((await keepKey(subject.provisioner, key)).externalId).toBe(key.externalId);
  });

  test.each(["Team not found", "Key not found in database"])(
    "is rejected when an update returns 404 with %p",
    async (detail) => {
      await using subject = await start();
      const key = await makeKey(subject.provisioner);
      subject.gateway.fail("POST /key/update", { kind: "status", status: 404, body: { detail } });
      const call = keepKey(subject.configured({ policy: LIMITS }), key);
      expect((await failureOf(call)).code).toBe("credential_invalid");
    },
  );
});

describe("a key that expires", () => {
  test("is rejected from that moment on and not before", async () => {
    await using subject = await start();
    const key = await makeKey(subject.provisioner);
    for (const upstream of subject.gateway.keys)
      upstream.expires = new Date(START_MS + HOUR_MS).toISOString();
    subject.clock.advance(HOUR_MS - 1);
    expect((await keepKey(subject.provisioner, key)).credential).toBeDefined();
    subject.clock.advance(1);
    expect((await failureOf(keepKey(subject.provisioner, key))).code).toBe("credential_invalid");
  });

  test.each([
    ["90d", 90 * DAY_MS - EXPIRY_AHEAD_MS - 1, "kept"],
    ["90d", 90 * DAY_MS - EXPIRY_AHEAD_MS, "replaced"],
    ["90d", 90 * DAY_MS - EXPIRY_AHEAD_MS + 1, "replaced"],
    ["1h", HOUR_MS / 2 - 1, "kept"],
    ["1h", HOUR_MS / 2, "replaced"],
    ["1h", HOUR_MS / 2 + 1, "replaced"],
  ])("a key with a life of %s is, after %p ms, %s", async (duration, ageMs, outcome) => {
    await using subject = await start({ policy: { duration } });
    const key = await makeKey(subject.provisioner);
    subject.clock.advance(ageMs);
    const { credential, expiresAtMs } = await keepKey(subject.provisioner, key);
    expect(credential ? "replaced" : "kept").toBe(outcome);
    expect(expiresAtMs ?? 0).toBeGreaterThan(subject.clock.nowMs());
    expect(subject.gateway.accepts(key.credential?.reveal() ?? "")).toBe(true);
  });
});

test("revoking by id sends only that request", async () => {
  await using subject = await start();
  const key = await makeKey(subject.provisioner);
  subject.gateway.calls = [];
  await subject.provisioner.revoke(
    { identity: { ...ADA, email: "" }, externalId: key.externalId },
    new AbortController().signal,
  );
  expect(subject.gateway.calls).toEqual(["POST /key/delete"]);
  expect(subject.gateway.keys).toEqual([]);
});
