// The requirements for both kinds of provisioner (src/domain/gateway/provisioners/provisioner.ts), tested on the given one with a
// real gateway behind it. Rules for one kind only are tested in its own tests.
import { describe, expect, test } from "bun:test";
import {
  type GatewayIdentity,
  type PreviousKey,
  type ProvisionedKey,
  type Provisioner,
  ProvisionerError,
} from "../../src/domain/gateway/provisioners/provisioner.ts";

/** Reads and changes the gateway without the provisioner. */
export interface Upstream {
  /** usable keys */
  keys(): Promise<readonly { externalId: string; email: string; alias: string }[]>;
  addAccount(email: string): Promise<unknown>;
  /** like an administrator of the gateway who blocks a key; the key stays there */
  block(externalId: string): Promise<unknown>;
  /** replaces the models that the gateway offers; an absent member is not sent */
  offer(models: readonly { id: string; display_name?: string; metadata?: object }[]): Promise<unknown>;
}

export interface Subject extends AsyncDisposable {
  provisioner: Provisioner;
  upstream: Upstream;
}

const ADA: GatewayIdentity = {
  id: "0190f3a0-0000-7000-8000-000000000001",
  email: "ada@example.com",
  organizationId: "0190f3a0-0000-7000-8000-00000000000f",
  groups: ["Developers", "Étoiles"],
};
const BOB: GatewayIdentity = {
  ...ADA,
  id: "0190f3a0-0000-7000-8000-000000000002",
  email: "bob@example.com",
};

const never = new AbortController().signal;

const previousOf = ({ externalId, alias, metadata }: ProvisionedKey): PreviousKey => ({
  externalId,
  alias,
  metadata,
});

/** Requests a first key, or one that replaces the existing key. */
const makeKey = ({ provisioner }: Subject, identity = ADA) =>
  provisioner.provision({ identity, reason: "missing", previous: null }, never);

const lookAfter = ({ provisioner }: Subject, key: ProvisionedKey, identity = ADA) =>
  provisioner.provision({ identity, reason: "reconciliation_due", previous: previousOf(key) }, never);

const rotate = ({ provisioner }: Subject, identity = ADA) =>
  provisioner.provision({ identity, reason: "reconciliation_due", previous: null }, never);

async function failureOf(call: Promise<unknown>): Promise<ProvisionerError> {
  const outcome = await call.then(
    () => "it succeeded",
    (error: unknown) => error,
  );
  if (outcome instanceof ProvisionerError) return outcome;
  throw new Error(`expected a ProvisionerError, got: ${String(outcome)}`);
}

async function idsOf({ upstream }: Subject, { email }: GatewayIdentity): Promise<string[]> {
  const keys = await upstream.keys();
  return keys.filter((key) => key.email === email).map(({ externalId }) => externalId);
}

/**
 * @param name of the kind
 * @param make creates a provisioner with its own empty gateway
 */
export function describeProvisioner(name: string, { make }: { make(): Promise<Subject> }): void {
  const start = async (...identities: GatewayIdentity[]): Promise<Subject> => {
    const subject = await make();
    for (const { email } of identities) await subject.upstream.addAccount(email);
    return subject;
  };

  describe(`the ${name} provisioner`, () => {
    test("creates a first key, which the gateway has under the reported name", async () => {
      await using subject = await start(ADA);
      const key = await makeKey(subject);
      expect(key.credential?.reveal()).toMatch(/^\S+$/);
      expect(await subject.upstream.keys()).toEqual([
        { externalId: key.externalId, email: ADA.email, alias: key.alias },
      ]);
      expect(key.externalId).not.toBe(key.credential?.reveal() ?? "");
    });

    test("keeps a healthy key and its secret", async () => {
      await using subject = await start(ADA);
      const key = await makeKey(subject);
      const kept = await lookAfter(subject, key);
      expect(kept.credential).toBeUndefined();
      expect(kept).toMatchObject({ externalId: key.externalId, alias: key.alias });
      expect(await idsOf(subject, ADA)).toEqual([key.externalId]);
    });

    test("keeps a key repeatedly, given its own previous response", async () => {
      await using subject = await start(ADA);
      const key = await makeKey(subject);
      const again = await lookAfter(subject, await lookAfter(subject, key));
      expect(again.externalId).toBe(key.externalId);
    });

    test("replaces the leftover of an earlier attempt with a new key", async () => {
      await using subject = await start(ADA);
      await makeKey(subject);
      await makeKey(subject);
      const last = await makeKey(subject);
      expect(await idsOf(subject, ADA)).toEqual([last.externalId]);
      expect((await lookAfter(subject, last)).externalId).toBe(last.externalId);
    });

    test("creates a new key beside a healthy one that is rotated, because the old one is in use until the new one is stored", async () => {
      await using subject = await start(ADA);
      const old = await makeKey(subject);
      const fresh = await rotate(subject);
      expect((await idsOf(subject, ADA)).toSorted()).toEqual([old.externalId, fresh.externalId].toSorted());
      expect((await lookAfter(subject, fresh)).externalId).toBe(fresh.externalId);
    });

    test("revokes the leftovers of an interrupted rotation when it reconciles the key", async () => {
      await using subject = await start(ADA);
      const key = await makeKey(subject);
      await rotate(subject);
      await lookAfter(subject, key);
      expect(await idsOf(subject, ADA)).toEqual([key.externalId]);
    });

    test("does not change the keys of others", async () => {
      await using subject = await start(ADA, BOB);
      const bobs = await makeKey(subject, BOB);
      const first = await makeKey(subject);
      await makeKey(subject);
      await subject.provisioner.revoke({ identity: ADA, externalId: first.externalId }, never);
      await subject.provisioner.revoke({ identity: ADA, externalId: null }, never);
      expect(await idsOf(subject, BOB)).toEqual([bobs.externalId]);
      expect((await lookAfter(subject, bobs, BOB)).externalId).toBe(bobs.externalId);
    });

    test("finds the account by its address in any letter case", async () => {
      await using subject = await start({ ...ADA, email: "Ada@Example.COM" });
      const key = await makeKey(subject);
      expect(key.credential).toBeDefined();
    });

    test("reports a person without an account", async () => {
      await using subject = await start(BOB);
      const failure = await failureOf(makeKey(subject));
      expect(failure.code).toBe("account_missing");
      expect(await subject.upstream.keys()).toEqual([]);
    });

    test("reports that a blocked key is not accepted, and replaces it on request", async () => {
      await using subject = await start(ADA);
      const key = await makeKey(subject);
      await subject.upstream.block(key.externalId);
      expect((await failureOf(lookAfter(subject, key))).code).toBe("credential_invalid");
      const replacement = await subject.provisioner.provision(
        { identity: ADA, reason: "credential_invalidated", previous: null },
        never,
      );
      expect(replacement.externalId).not.toBe(key.externalId);
      expect((await lookAfter(subject, replacement)).externalId).toBe(replacement.externalId);
    });

    test("reports that a missing key is not accepted", async () => {
      await using subject = await start(ADA);
      const key = await makeKey(subject);
      await subject.provisioner.revoke({ identity: ADA, externalId: key.externalId }, never);
      expect((await failureOf(lookAfter(subject, key))).code).toBe("credential_invalid");
    });

    test("revokes a key, and a second revocation succeeds", async () => {
      await using subject = await start(ADA);
      const key = await makeKey(subject);
      const request = { identity: ADA, externalId: key.externalId };
      await subject.provisioner.revoke(request, never);
      expect(await idsOf(subject, ADA)).toEqual([]);
      await subject.provisioner.revoke(request, never);
    });

    test("removes the key of an interrupted attempt under an unknown id", async () => {
      await using subject = await start(ADA);
      await makeKey(subject);
      await subject.provisioner.revoke({ identity: ADA, externalId: null }, never);
      expect(await idsOf(subject, ADA)).toEqual([]);
    });

    test("removes nothing if there is no leftover key or no account", async () => {
      await using subject = await start(ADA);
      await subject.provisioner.revoke({ identity: ADA, externalId: null }, never);
      await subject.provisioner.revoke({ identity: BOB, externalId: null }, never);
      expect(await subject.upstream.keys()).toEqual([]);
    });

    test("creates no key after its time limit", async () => {
      await using subject = await start(ADA);
      const request = { identity: ADA, reason: "missing", previous: null } as const;
      const failure = await failureOf(subject.provisioner.provision(request, AbortSignal.abort()));
      expect(failure.code).toBe("unavailable");
      expect(await subject.upstream.keys()).toEqual([]);
    });

    test("never shows people a response of the gateway or a secret", async () => {
      await using subject = await start(ADA);
      const key = await makeKey(subject);
      expect(JSON.stringify(key)).not.toContain(key.credential?.reveal() ?? "");
      const failure = await failureOf(makeKey(subject, BOB));
      expect(failure.message).not.toContain(failure.diagnosis);
    });

    test("lists the models of the gateway with their descriptions, and a revision of the ids", async () => {
      await using subject = await start();
      const described = { id: "openai/gpt-5", display_name: "GPT-5", metadata: { context: 400_000 } };
      await subject.upstream.offer([{ id: "b" }, described]);
      const listing = await subject.provisioner.listModels(never);
      expect(listing.models).toMatchObject([
        { id: "b", displayName: null, metadata: null },
        { id: "openai/gpt-5", displayName: "GPT-5", metadata: { context: 400_000 } },
      ]);
      await subject.upstream.offer([described, { id: "b" }]);
      const again = await subject.provisioner.listModels(never);
      expect(again.models.toReversed()).toEqual([...listing.models]);
      expect(again.sourceRevision).toBe(listing.sourceRevision);
    });

    test("lists no models if the gateway offers none", async () => {
      await using subject = await start();
      await subject.upstream.offer([]);
      expect((await subject.provisioner.listModels(never)).models).toEqual([]);
    });

    test.each([
      ["an id twice", [{ id: "a" }, { id: "a" }]],
      ["a blank before an id", [{ id: "a" }, { id: " b" }]],
      ["an empty id", [{ id: "" }]],
      ["too long an id", [{ id: "a".repeat(513) }]],
      ["too much metadata", [{ id: "a", metadata: { text: "a".repeat(16_384) } }]],
    ])("refuses a list with %s as a whole", async (_name, models) => {
      await using subject = await start();
      await subject.upstream.offer(models);
      const failure = await subject.provisioner.listModels(never).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "discovery_response" });
    });

    test("refuses a list of more than a mebibyte", async () => {
      await using subject = await start();
      await subject.upstream.offer(
        Array.from({ length: 2_500 }, (_, n) => ({ id: `${n}-`.padEnd(500, "a") })),
      );
      const failure = await subject.provisioner.listModels(never).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "discovery_response" });
    });

    test("lists no models after its time limit", async () => {
      await using subject = await start();
      await subject.upstream.offer([{ id: "a" }]);
      const failure = await subject.provisioner
        .listModels(AbortSignal.abort())
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "unavailable" });
    });

    test("serves many users at the same time", async () => {
      const users = Array.from({ length: 8 }, (_, n) => ({
        ...ADA,
        id: `0190f3a0-0000-7000-8000-0000000001${n}0`,
        email: `user-${n}@example.com`,
      }));
      await using subject = await start(...users);
      const keys = await Promise.all(users.map((user) => makeKey(subject, user)));
      const known = (await subject.upstream.keys()).map(({ externalId }) => externalId);
      expect(known.toSorted()).toEqual(keys.map(({ externalId }) => externalId).toSorted());
    });
  });
}
