// Tokens of identity providers: which are accepted, what is stored of a token, and how its use is recorded.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { organizations } from "../../../../src/domain/identity/tables.ts";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { scimTokens } from "../../../../src/domain/scim/tables.ts";
import { USE_NOTED_EVERY_MS } from "../../../../src/domain/scim/tokens/token-check.ts";
import {
  CONFIGURED,
  EXPIRY_DAYS_MAX,
  LABEL_LENGTH_MAX,
  PRESENTED_LENGTH_MAX,
  TOKENS_LISTED_MAX,
} from "../../../../src/domain/scim/tokens/token-model.ts";
import { ScimTokens } from "../../../../src/domain/scim/tokens/tokens.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import { openDatabase } from "../../../../src/platform/database/database.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { sha256Hex, systemIds } from "../../../../src/platform/ids.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { idempotencyOf } from "../../../support/identity-world.ts";
import { createWorld, START_MS, type World } from "../../../support/world.ts";

const tokensOf = (world: World, configured?: string): ScimTokens =>
  new ScimTokens({
    ...world,
    idempotency: idempotencyOf(world),
    organization: () => world.organizationId,
    configured: configured === undefined ? undefined : new Secret(configured),
  });

const operatorOf = ({ system }: World): Actor => ({ ...system, kind: "operator", label: "root" });

async function make(world: World, tokens: ScimTokens, label = "entra"): Promise<string> {
  return (await tokens.create(operatorOf(world), { label, profile: "standard" })).token.reveal();
}

/** @returns the label of the accepted token, or the status and detail of the refusal */
function heard(tokens: ScimTokens, presented: string | undefined): string {
  try {
    return tokens.check.authenticate(presented).actor.label;
  } catch (error) {
    if (error instanceof ScimError) return `${error.status} ${error.message}`;
    throw error;
  }
}

const REFUSED = "401 a valid SCIM token is required: send the header Authorization: Bearer <token>";

async function refusalOf(work: Promise<unknown>): Promise<DomainError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** Writes run in order: the first ends after those that no caller awaits, the second after their effects. */
async function settled({ db }: World): Promise<void> {
  await db.write(() => undefined, "unobserved");
  await db.write(() => undefined, "unobserved");
}

describe("a created token", () => {
  test("authenticates its bearer as the actor that its label names, in its organization", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const { token, view } = await tokens.create(operatorOf(world), { label: "entra", profile: "entra" });
    expect(tokens.check.authenticate(token.reveal())).toEqual({
      tokenId: view.id,
      profile: "entra",
      actor: {
        kind: "scim",
        id: null,
        label: "scim:entra",
        organizationId: world.organizationId,
        credential: `scim_token:${view.id}`,
      },
    });
  });

  test("has a recognizable prefix and 256 random bits in addition to the visible part", async () => {
    await using world = await createWorld();
    const { token, view } = await tokensOf(world).create(operatorOf(world), {
      label: "entra",
      profile: "standard",
    });
    const text = token.reveal();
    expect(text).toMatch(/^qms_[\w-]{51}$/);
    expect(view.prefix).toBe(text.slice(0, 12));
    const hidden = Buffer.from(text.slice(4), "base64url").subarray(
      Buffer.from(text.slice(4, 12), "base64url").length,
    );
    expect(hidden.length * 8).toBe(256);
  });

  test("SCIM-4 is stored only as a digest and appears in no list", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const secret = await make(world, tokens);
    tokens.check.authenticate(secret);
    await settled(world);
    const files = readdirSync(world.directory).filter((name) => name.startsWith("quartermaster.db"));
    const atRest = files.map((name) => readFileSync(join(world.directory, name), "latin1")).join("");
    expect(atRest).toContain(sha256Hex(secret));
    expect(atRest).not.toContain(secret.slice(12));
    const shown = JSON.stringify(tokens.list(world.organizationId));
    expect(shown).not.toContain(secret.slice(12));
    expect(shown).not.toContain(sha256Hex(secret));
  });

  test("is accepted with white space around it, and in no other spelling", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const secret = await make(world, tokens);
    expect(heard(tokens, `  ${secret}\t`)).toBe("scim:entra");
    for (const wrong of [secret.slice(0, -1), `${secret}A`, secret.toLowerCase(), `Bearer ${secret}`])
      expect(heard(tokens, wrong)).toBe(REFUSED);
  });

  test("SCIM-4 works together with others, each with its own label", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const secrets = await Promise.all(["one", "two", "three"].map((label) => make(world, tokens, label)));
    expect(secrets.map((secret) => heard(tokens, secret))).toEqual(["scim:one", "scim:two", "scim:three"]);
  });

  test("SCIM-6 belongs to its organization and is inaccessible to another's operator", async () => {
    await using world = await createWorld();
    const other = { ...operatorOf(world), organizationId: systemIds.uuid() };
    const row = { id: other.organizationId, name: "Other", createdAtMs: START_MS };
    await world.db.write((tx) => void tx.insert(organizations).values(row).run());
    const tokens = tokensOf(world);
    const { token } = await tokens.create(other, { label: "theirs", profile: "standard" });
    expect(tokens.check.authenticate(token.reveal()).actor.organizationId).toBe(other.organizationId);
    expect(tokens.list(world.organizationId)).toEqual([]);
    expect((await refusalOf(tokens.revoke(operatorOf(world), "theirs"))).reason).toBe("scim_token.not_found");
  });
});

describe("a caller without a valid token", () => {
  test("gets the same refusal for every cause", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world, "configured-secret");
    const revoked = await make(world, tokens, "revoked");
    await tokens.revoke(operatorOf(world), "revoked");
    const expired = await tokens.create(operatorOf(world), {
      label: "old",
      profile: "standard",
      expiresAtMs: START_MS + HOUR_MS,
    });
    world.clock.advance(HOUR_MS);
    const presented = [undefined, "", "  ", "nonsense", CONFIGURED, revoked, expired.token.reveal()];
    for (const each of presented) expect(heard(tokens, each)).toBe(REFUSED);
  });

  test("is refused when no token is configured or created, even with an empty credential", async () => {
    await using world = await createWorld();
    for (const configured of [undefined, "", " \n"]) {
      const tokens = tokensOf(world, configured);
      expect(heard(tokens, "")).toBe(REFUSED);
      expect(heard(tokens, configured)).toBe(REFUSED);
      expect(tokens.hasActive()).toBe(false);
    }
  });

  test.each([
    [PRESENTED_LENGTH_MAX - 1, `scim:${CONFIGURED}`],
    [PRESENTED_LENGTH_MAX, `scim:${CONFIGURED}`],
    [PRESENTED_LENGTH_MAX + 1, REFUSED],
  ])("responds to a token with %d characters: %s", async (length, response) => {
    await using world = await createWorld();
    const secret = "s".repeat(length);
    expect(heard(tokensOf(world, secret), secret)).toBe(response);
  });
});

describe("the configured token", () => {
  test("authenticates as `configured`, and line breaks of its file are ignored", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world, "configured-secret\n");
    expect(tokens.check.authenticate("configured-secret")).toEqual({
      tokenId: CONFIGURED,
      profile: "standard",
      actor: {
        kind: "scim",
        id: null,
        label: `scim:${CONFIGURED}`,
        organizationId: world.organizationId,
        credential: `scim_token:${CONFIGURED}`,
      },
    });
  });

  test("is refused before an organization exists", async () => {
    await using world = await createWorld();
    const configured = new Secret("configured-secret");
    const idempotency = idempotencyOf(world);
    const tokens = new ScimTokens({ ...world, idempotency, organization: () => undefined, configured });
    expect(heard(tokens, "configured-secret")).toBe(REFUSED);
  });

  test("is listed first with its last use and is not stored", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world, "configured-secret");
    await make(world, tokens);
    expect(tokens.list(world.organizationId).map(({ label }) => label)).toEqual([CONFIGURED, "entra"]);
    expect(tokens.list(world.organizationId)[0]).toMatchObject({ state: "active", lastUsedAtMs: null });
    tokens.check.authenticate("configured-secret");
    await settled(world);
    const [listed] = tokens.list(world.organizationId);
    expect(listed).toEqual({
      id: CONFIGURED,
      label: CONFIGURED,
      prefix: null,
      profile: "standard",
      state: "active",
      createdBy: "configuration",
      createdAtMs: null,
      expiresAtMs: null,
      lastUsedAtMs: START_MS,
      revokedAtMs: null,
    });
    const atRest = readFileSync(`${world.file}-wal`, "latin1");
    expect(atRest).not.toContain("configured-secret");
    expect(atRest).not.toContain(sha256Hex("configured-secret"));
  });

  test("is refused and listed as not set after it was removed from the configuration", async () => {
    await using world = await createWorld();
    tokensOf(world, "configured-secret").check.authenticate("configured-secret");
    await settled(world);
    const tokens = tokensOf(world);
    expect(heard(tokens, "configured-secret")).toBe(REFUSED);
    expect(tokens.list(world.organizationId)).toMatchObject([{ id: CONFIGURED, state: "unset" }]);
    expect(tokens.hasActive()).toBe(false);
  });

  test("cannot be revoked here", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world, "configured-secret");
    const error = await refusalOf(tokens.revoke(operatorOf(world), CONFIGURED));
    expect([error.kind, error.reason]).toEqual(["conflict", "scim_token.configured"]);
    expect(heard(tokens, "configured-secret")).toBe("scim:configured");
  });
});

describe("revoking", () => {
  test.each(["label", "id"] as const)(
    "SCIM-5 revokes a token by %s at the next request, and only once",
    async (by) => {
      await using world = await createWorld();
      const tokens = tokensOf(world);
      const { token, view } = await tokens.create(operatorOf(world), { label: "entra", profile: "standard" });
      const revoked = { ...view, state: "revoked", revokedAtMs: START_MS };
      const first = await tokens.revoke(operatorOf(world), view[by]);
      expect(first).toEqual({ changed: true, token: expect.objectContaining(revoked) });
      expect(heard(tokens, token.reveal())).toBe(REFUSED);
      world.clock.advance(HOUR_MS);
      const second = await tokens.revoke(operatorOf(world), view[by]);
      expect(second).toEqual({ changed: false, token: first.token });
    },
  );

  test("revokes a token from another process", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const secret = await make(world, tokens);
    expect(heard(tokens, secret)).toBe("scim:entra");
    const db = openDatabase(world.file);
    await tokensOf({ ...world, db }).revoke(operatorOf(world), "entra");
    await db.close();
    expect(heard(tokens, secret)).toBe(REFUSED);
  });

  test("frees the label for a new token", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const [old, taken] = [await make(world, tokens), make(world, tokens)];
    expect((await refusalOf(taken)).reason).toBe("scim_token.label_taken");
    await tokens.revoke(operatorOf(world), "entra");
    const fresh = await make(world, tokens);
    expect([heard(tokens, old), heard(tokens, fresh)]).toEqual([REFUSED, "scim:entra"]);
    expect((await tokens.revoke(operatorOf(world), "entra")).changed).toBe(true);
    expect(heard(tokens, fresh)).toBe(REFUSED);
    expect(tokens.list(world.organizationId).map(({ state }) => state)).toEqual(["revoked", "revoked"]);
  });

  test("fails for an unknown label, with and without a preceding check", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    expect((await refusalOf(tokens.revoke(operatorOf(world), "nothing"))).reason).toBe(
      "scim_token.not_found",
    );
    expect(() => tokens.checkRevoke(operatorOf(world), "nothing")).toThrow("no SCIM token");
    expect(() => tokens.checkRevoke(operatorOf(world), CONFIGURED)).toThrow("is part of the configuration");
  });
});

describe("expiry", () => {
  test("a token works until the millisecond before it", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const expiresAtMs = START_MS + DAY_MS;
    const { token } = await tokens.create(operatorOf(world), {
      label: "entra",
      profile: "standard",
      expiresAtMs,
    });
    world.clock.set(expiresAtMs - 1);
    expect(heard(tokens, token.reveal())).toBe("scim:entra");
    expect([tokens.hasActive(), tokens.list(world.organizationId)[0]?.state]).toEqual([true, "active"]);
    world.clock.set(expiresAtMs);
    expect(heard(tokens, token.reveal())).toBe(REFUSED);
    expect([tokens.hasActive(), tokens.list(world.organizationId)[0]?.state]).toEqual([false, "expired"]);
  });

  test.each([
    [0, false],
    [1, true],
    [EXPIRY_DAYS_MAX * DAY_MS - 1, true],
    [EXPIRY_DAYS_MAX * DAY_MS, true],
    [EXPIRY_DAYS_MAX * DAY_MS + 1, false],
    [Number.NaN, false],
  ])("%d ms from now is allowed: %p", async (fromNowMs, isAllowed) => {
    await using world = await createWorld();
    const making = tokensOf(world).create(operatorOf(world), {
      label: "entra",
      profile: "standard",
      expiresAtMs: START_MS + fromNowMs,
    });
    expect(
      await making.then(
        () => true,
        () => false,
      ),
    ).toBe(isAllowed);
  });
});

describe("a request for a token", () => {
  const labels: readonly [string, boolean][] = [
    ["e", true],
    ["Entra – prod", false],
    ["Entra prod 2.0_b-c", true],
    ["日本", true],
    ["", false],
    ["-entra", false],
    ["a\nb", false],
    [CONFIGURED, false],
    ["x".repeat(LABEL_LENGTH_MAX - 1), true],
    ["x".repeat(LABEL_LENGTH_MAX), true],
    ["x".repeat(LABEL_LENGTH_MAX + 1), false],
  ];
  test.each(labels)("allows the label %p: %p", async (label, isAllowed) => {
    await using world = await createWorld();
    const making = tokensOf(world).create(operatorOf(world), { label, profile: "standard" });
    expect(
      await making.then(
        () => true,
        () => false,
      ),
    ).toBe(isAllowed);
  });

  test("is refused with all its problems", async () => {
    await using world = await createWorld();
    const request = { label: "", profile: "okta", expiresAtMs: START_MS };
    const error = await refusalOf(tokensOf(world).create(operatorOf(world), request));
    expect(error.reason).toBe("scim_token.invalid");
    expect(error.problems.map(({ pointer }) => pointer)).toEqual(["/label", "/expires_at", "/profile"]);
  });
});

test.each([
  [TOKENS_LISTED_MAX - 1, TOKENS_LISTED_MAX - 1],
  [TOKENS_LISTED_MAX, TOKENS_LISTED_MAX],
  [TOKENS_LISTED_MAX + 1, TOKENS_LISTED_MAX],
])("lists of %d tokens the newest %d", async (made, listed) => {
  await using world = await createWorld();
  const row = {
    organizationId: world.organizationId,
    prefix: "qms_",
    profile: "standard",
    createdBy: "root",
    createdAtMs: START_MS,
  } as const;
  const labels = Array.from({ length: made }, (_, index) => String(index).padStart(4, "0"));
  await world.db.write((tx) => {
    for (const label of labels)
      tx.insert(scimTokens)
        .values({ ...row, id: label, label, tokenHash: label })
        .run();
  });
  const shown = tokensOf(world)
    .list(world.organizationId)
    .map(({ label }) => label);
  expect(shown).toEqual(labels.toReversed().slice(0, listed));
});

describe("the last use", () => {
  test.each([
    [USE_NOTED_EVERY_MS - 1, 0],
    [USE_NOTED_EVERY_MS, USE_NOTED_EVERY_MS],
    [USE_NOTED_EVERY_MS + 1, USE_NOTED_EVERY_MS + 1],
  ])("writes a second use %d ms later as of %d ms", async (afterMs, notedMs) => {
    await using world = await createWorld();
    const tokens = tokensOf(world, "configured-secret");
    const secrets = [await make(world, tokens), "configured-secret"];
    for (const secret of secrets) tokens.check.authenticate(secret);
    await settled(world);
    world.clock.advance(afterMs);
    for (const secret of secrets) tokens.check.authenticate(secret);
    await settled(world);
    const used = tokens.list(world.organizationId).map(({ lastUsedAtMs }) => lastUsedAtMs);
    expect(used).toEqual([START_MS + notedMs, START_MS + notedMs]);
  });

  test("is written once for many concurrent requests and leaves the caches valid", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const secret = await make(world, tokens);
    const revision = world.db.revision("access");
    let writes = 0;
    const write: typeof world.db.write = (fn, topic) => {
      writes += 1;
      return world.db.write(fn, topic);
    };
    const { read, readConsistently, hold, writeInSteps, writeGrouped, writeInBackground } = world.db;
    const writing = { write, writeInSteps, writeGrouped, writeInBackground };
    const db = {
      read,
      readConsistently,
      hold,
      ...writing,
      revision: world.db.revision,
      close: world.db.close,
    };
    const counted = tokensOf({ ...world, db });
    for (let request = 0; request < 100; request += 1) counted.check.authenticate(secret);
    await settled(world);
    expect(writes).toBe(1);
    expect(world.db.revision("access")).toBe(revision);
  });
});

describe("the audit log", () => {
  test("names the creator, the revoker and the token, without its secret", async () => {
    await using world = await createWorld();
    const tokens = tokensOf(world);
    const expiresAtMs = START_MS + DAY_MS;
    const { token, view } = await tokens.create(operatorOf(world), {
      label: "entra",
      profile: "standard",
      expiresAtMs,
    });
    await tokens.revoke(operatorOf(world), "entra");
    await tokens.revoke(operatorOf(world), "entra");
    const entries = world.db.read.select().from(auditEntries).limit(10).all();
    expect(
      entries.map(({ actorLabel, action, target, before, after }) => [
        actorLabel,
        action,
        target,
        before ?? after,
      ]),
    ).toEqual([
      [
        "root",
        "scim_token.create",
        view.id,
        '{"label":"entra","profile":"standard","expires_at":"2026-01-02T00:00:00.000Z"}',
      ],
      ["root", "scim_token.revoke", view.id, '{"label":"entra","profile":"standard"}'],
    ]);
    expect(JSON.stringify(entries)).not.toContain(token.reveal().slice(0, 12));
    expect(JSON.stringify(entries)).not.toContain(sha256Hex(token.reveal()));
  });
});
