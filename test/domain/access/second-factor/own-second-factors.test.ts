// Operations of users on their own factors: every change needs a confirmed session; and the effects of a removal, a reset, a new
// sealing key and the sweep.
import { expect, test } from "bun:test";
import { createFactorReset } from "../../../../src/domain/access/second-factor/factor-reset.ts";
import {
  ATTEMPT_TTL_MS,
  CONFIRMATION_TTL_MS,
  PASSKEYS_PER_USER_MAX,
} from "../../../../src/domain/access/second-factor/model.ts";
import type { OwnSession } from "../../../../src/domain/access/second-factor/own-second-factors.ts";
import { authenticatorSecrets } from "../../../../src/domain/access/second-factor/sealed-app-secrets.ts";
import { sweepLogins } from "../../../../src/domain/access/sweep.ts";
import {
  authenticatorApps,
  loginSessions,
  passkeys,
  recoveryCodes,
  signInAttempts,
  spentChallenges,
} from "../../../../src/domain/access/tables.ts";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { SECOND_MS } from "../../../../src/platform/clock.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { appCode } from "../../../support/second-factor/authenticator-app.ts";
import {
  createAuthenticator,
  FLAGS,
  type Lie,
} from "../../../support/second-factor/software-authenticator.ts";
import { type AccessWorld, BASE_URL, PASSWORD } from "../access-world.ts";
import {
  addApp,
  addPasskey,
  attemptOf,
  codeNow,
  createFactorWorld,
  outcomeOf,
  requestOf,
  sessionOf,
} from "./factor-world.ts";

const UNCONFIRMED = "access.confirmation_needed";
const STEP_MS = 30 * SECOND_MS;

const FACTOR_TABLES = [authenticatorApps, passkeys, recoveryCodes, signInAttempts];
const factorRowsIn = (world: AccessWorld): number[] =>
  FACTOR_TABLES.map((table) => world.db.read.select().from(table).all().length);

const changes: readonly [string, (world: AccessWorld, session: OwnSession) => unknown][] = [
  ["showing a QR code", async ({ ownFactors }, session) => ownFactors.startApp(session)],
  [
    "adding an app",
    ({ ownFactors }, session) => ownFactors.addApp(session, { sealed: "", code: new Secret("") }),
  ],
  ["asking for a passkey", ({ ownFactors }, session) => ownFactors.startPasskey(session)],
  ["adding a passkey", ({ ownFactors }, session) => ownFactors.addPasskey(session, { answer: "", name: "" })],
  ["removing the app", async ({ ownFactors }, session) => ownFactors.removeApp(session)],
  ["removing a passkey", async ({ ownFactors }, session) => ownFactors.removePasskey(session, "id")],
  ["new recovery codes", async ({ ownFactors }, session) => ownFactors.renewRecoveryCodes(session)],
];

test.each(changes)("%s needs a session that was confirmed in the last ten minutes", async (_name, change) => {
  await using world = await createFactorWorld();
  const session = await sessionOf(world, { isFresh: false });
  const request = () => outcomeOf((async () => void (await change(world, session)))());
  expect(await request()).toBe(UNCONFIRMED);
  await world.ownFactors.confirmWithPassword(session, new Secret(PASSWORD));
  world.clock.advance(CONFIRMATION_TTL_MS - 1);
  expect(await request()).not.toBe(UNCONFIRMED);
  world.clock.advance(1);
  expect(await request()).toBe(UNCONFIRMED);
});

test("a clock that was set back confirms nothing", async () => {
  await using world = await createFactorWorld();
  const session = await sessionOf(world);
  world.clock.advance(-1);
  expect(world.ownFactors.isConfirmed(session)).toBe(false);
});

test("a session is confirmed with a factor; the password counts only while there is none", async () => {
  await using world = await createFactorWorld();
  const session = await sessionOf(world, { isFresh: false });
  const confirm = (password: string) =>
    outcomeOf(world.ownFactors.confirmWithPassword(session, new Secret(password)));
  expect(await confirm("not the password")).toBe("access.password_wrong");
  expect(world.ownFactors.isConfirmed(session)).toBe(false);
  const app = await addApp(world);
  expect(await confirm(PASSWORD)).toBe(UNCONFIRMED);
  expect(await outcomeOf(world.ownFactors.confirm(session, { code: new Secret("000000") }))).toBe(
    "access.second_factor_wrong",
  );
  world.clock.advance(STEP_MS);
  expect(await world.ownFactors.confirm(session, codeNow(world, app))).toBe("authenticator_app");
  expect(world.ownFactors.isConfirmed(session)).toBe(true);
});

test("the first factor makes every other session unconfirmed", async () => {
  await using world = await createFactorWorld();
  const other = await sessionOf(world);
  await addApp(world);
  expect(world.ownFactors.isConfirmed(other)).toBe(false);
  const third = await sessionOf(world);
  await addPasskey(world);
  expect(world.ownFactors.isConfirmed(third)).toBe(true);
});

test("the log has the kind of an added factor, and the name of a passkey", async () => {
  await using world = await createFactorWorld();
  await addApp(world);
  await addPasskey(world);
  const entries = world.db.read.select().from(auditEntries).all();
  const added = entries.filter(({ action }) => action === "second_factor.add");
  expect(added.map(({ after }) => after)).toEqual([
    '{"kind":"authenticator_app"}',
    '{"kind":"passkey","name":"Laptop"}',
  ]);
});

test("a passkey response confirms one session, once", async () => {
  await using world = await createFactorWorld();
  const passkey = await addPasskey(world);
  const [session, other] = [
    await sessionOf(world, { isFresh: false }),
    await sessionOf(world, { isFresh: false }),
  ];
  const options = (await world.ownFactors.passkeyRequest(session)) ?? {};
  const response = passkey.get(options, { counter: 0 });
  const confirm = (which: OwnSession) => outcomeOf(world.ownFactors.confirm(which, { passkey: response }));
  expect(await confirm(other)).toBe("access.second_factor_wrong");
  expect(await confirm(session)).toBe("done");
  expect(await confirm(session)).toBe("access.second_factor_wrong");
});

test("an ended session is not confirmed", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  const session = await sessionOf(world);
  await world.identity.users.revokeLogins(world.system, world.user.id);
  world.clock.advance(STEP_MS);
  expect(world.ownFactors.isConfirmed(session)).toBe(false);
  expect(await outcomeOf(world.ownFactors.confirm(session, codeNow(world, app)))).toBe(
    "access.session_invalid",
  );
});

test("recovery codes are created with the first factor, replaced on demand, and removed with the last one", async () => {
  await using world = await createFactorWorld();
  const { recoveryCodes: first } = await addApp(world);
  const session = await sessionOf(world);
  const next = (await world.ownFactors.renewRecoveryCodes(session)).map((code) => code.reveal());
  expect(new Set([...first, ...next]).size).toBe(20);
  const attempt = await attemptOf(world);
  const prove = (code = "") => outcomeOf(world.factorSignIns.prove(attempt, { code: new Secret(code) }));
  expect(await prove(first[0])).toBe("access.second_factor_wrong");
  expect(await prove(next[0])).toBe("done");
  await addPasskey(world);
  await world.ownFactors.removeApp(session);
  expect(factorRowsIn(world)).toEqual([0, 1, 9, 0]);
  const [passkey] = world.ownFactors.view(session.actor)?.passkeys ?? [];
  await world.ownFactors.removePasskey(session, passkey?.id ?? "");
  expect(factorRowsIn(world)).toEqual([0, 0, 0, 0]);
  expect(await outcomeOf(world.ownFactors.removeApp(session))).toBe("second_factor.not_found");
  expect(await outcomeOf(world.ownFactors.renewRecoveryCodes(session))).toBe("second_factor.not_found");
});

test("a passkey of another user cannot be removed", async () => {
  await using world = await createFactorWorld();
  await addPasskey(world);
  const { user: other } = await world.identity.users.create(world.system, {
    email: "bob@example.com",
    role: "member",
    password: new Secret(PASSWORD),
  });
  const id = world.factors.view(world.db.read, world.user).passkeys[0]?.id ?? "";
  const session = await sessionOf(world, { user: other });
  expect(await outcomeOf(world.ownFactors.removePasskey(session, id))).toBe("second_factor.not_found");
});

test("keeps the last factor of a user who must have one", async () => {
  await using world = await createFactorWorld({ secondFactor: "everyone" });
  await addApp(world);
  const session = await sessionOf(world);
  expect(await outcomeOf(world.ownFactors.removeApp(session))).toBe("second_factor.required");
  await addPasskey(world);
  expect(await outcomeOf(world.ownFactors.removeApp(session))).toBe("done");
});

test("a new app replaces the old one, whose codes are no longer accepted", async () => {
  await using world = await createFactorWorld();
  const old = await addApp(world);
  const app = await addApp(world);
  world.clock.advance(STEP_MS);
  const attempt = await attemptOf(world);
  expect(app.recoveryCodes).toEqual([]);
  expect(await outcomeOf(world.factorSignIns.prove(attempt, codeNow(world, old)))).not.toBe("done");
  expect(await outcomeOf(world.factorSignIns.prove(attempt, codeNow(world, app)))).toBe("done");
});

test("the setup of an app expires, and belongs to one session", async () => {
  await using world = await createFactorWorld();
  const [session, other] = [await sessionOf(world), await sessionOf(world)];
  const { secret, sealed, uri } = world.ownFactors.startApp(session);
  expect(uri.reveal()).toMatch(/^otpauth:\/\/totp\/.*ada%40example\.com\?.*secret=[A-Z2-7]{32}&.*period=30$/);
  const add = (which: OwnSession, code = appCode(secret.reveal(), world.clock.nowMs())) =>
    outcomeOf(world.ownFactors.addApp(which, { sealed, code: new Secret(code) }));
  expect(await add(other)).toBe("second_factor.setup_expired");
  expect(await add(session, "000000")).toBe("second_factor.code_wrong");
  expect(await add(session, "AAAA-AAAA-AAAA-AAAA")).toBe("second_factor.code_wrong");
  world.clock.advance(ATTEMPT_TTL_MS - 1);
  expect(await add(session)).toBe("done");
  world.clock.advance(1);
  expect(world.ownFactors.isConfirmed(session)).toBe(true);
  expect(await add(session)).toBe("second_factor.setup_expired");
});

/** A statement with a certificate: `{"fmt": "packed", "attStmt": {"alg": -7, "sig": h'00', "x5c": [h'00']}`, in CBOR. */
const WITH_CERTIFICATE = Buffer.from(
  "63666d74667061636b65646761747453746d74a363616c672663736967410063783563814100",
  "hex",
);

/** The format of Android SafetyNet, whose certificates are in a signed token, with an empty statement, in CBOR. */
const WITH_TOKEN = Buffer.from("63666d7471616e64726f69642d7361666574796e65746761747453746d74a0", "hex");

test.each<[string, Lie]>([
  ["of another origin", { origin: "https://evil.example" }],
  ["of another relying party", { rpId: "evil.example" }],
  ["to another challenge", { challenge: "AAAA" }],
  ["without user verification", { flags: FLAGS.present | FLAGS.attested }],
])("a new passkey %s is refused", async (_name, lie) => {
  await using world = await createFactorWorld();
  const session = await sessionOf(world);
  const response = createAuthenticator(BASE_URL).create(await world.ownFactors.startPasskey(session), lie);
  const outcome = await outcomeOf(world.ownFactors.addPasskey(session, { answer: response, name: "x" }));
  expect(outcome).toBe("second_factor.passkey_refused");
});

test.each([
  ["a certificate", WITH_CERTIFICATE],
  ["a token with certificates", WITH_TOKEN],
])("a new passkey with %s is refused without any network request", async (_name, attestation) => {
  await using world = await createFactorWorld();
  const session = await sessionOf(world);
  const options = await world.ownFactors.startPasskey(session);
  const response = createAuthenticator(BASE_URL).create(options, { attestation });
  const refusal = await world.ownFactors
    .addPasskey(session, { answer: response, name: "x" })
    .catch((error) => error);
  expect(refusal).toMatchObject({ reason: "second_factor.passkey_refused" });
  expect(String(refusal.cause)).toContain("certificates are not accepted");
});

test("the response of a new passkey counts once, and a user has a limited number of them", async () => {
  await using world = await createFactorWorld();
  const session = await sessionOf(world);
  const authenticator = createAuthenticator(BASE_URL);
  const response = authenticator.create(await world.ownFactors.startPasskey(session));
  const add = (text: string) =>
    outcomeOf(world.ownFactors.addPasskey(session, { answer: text, name: " A\nB " }));
  expect(await add(response)).toBe("done");
  expect(await add(response)).toBe("second_factor.passkey_refused");
  const again = authenticator.create(await world.ownFactors.startPasskey(session));
  expect(await add(again)).toBe("second_factor.passkey_known");
  expect(world.factors.view(world.db.read, world.user).passkeys).toMatchObject([{ name: "A B" }]);
  for (let i = 1; i < PASSKEYS_PER_USER_MAX; i += 1) await addPasskey(world);
  expect(await outcomeOf(world.ownFactors.startPasskey(session))).toBe("second_factor.too_many_passkeys");
});

test.each(["http://control.example.com", "https://192.0.2.1", "https://[2001:db8::1]:8443"])(
  "passkeys are not offered at %s",
  async (origin) => {
    await using world = await createFactorWorld({ baseUrl: () => origin });
    expect(world.factors.offersPasskeys()).toBe(false);
    const session = await sessionOf(world);
    expect(await outcomeOf(world.ownFactors.startPasskey(session))).toBe(
      "second_factor.passkeys_unavailable",
    );
  },
);

test.each(["https://control.example.com:8443", "http://localhost:8080"])(
  "passkeys are offered at %s",
  async (origin) => {
    await using world = await createFactorWorld({ baseUrl: () => origin });
    expect(world.factors.offersPasskeys()).toBe(true);
  },
);

test("has nothing to manage with second_factor off", async () => {
  await using world = await createFactorWorld({ secondFactor: "off" });
  const session = await sessionOf(world);
  expect(world.ownFactors.view(session.actor)).toBeUndefined();
  expect(await outcomeOf((async () => world.ownFactors.startApp(session))())).toBe("second_factor.off");
});

test("a reset removes every factor, ends browser sessions and pending sign-ins, and clears the count of wrong codes", async () => {
  await using world = await createFactorWorld();
  await addApp(world);
  await addPasskey(world);
  const attempt = await attemptOf(world);
  for (let i = 0; i < 5; i += 1)
    await outcomeOf(world.factorSignIns.prove(attempt, { code: new Secret("000000") }));
  const { reset, count } = createFactorReset(world);
  expect(count(world.user.id)).toEqual({ authenticatorApps: 1, passkeys: 1, recoveryCodes: 10 });
  const done = await reset(world.system, world.user.id);
  expect(done).toMatchObject({
    isChange: true,
    authenticatorApps: 1,
    passkeys: 1,
    recoveryCodes: 10,
    sessionsEnded: 2,
  });
  expect(factorRowsIn(world)).toEqual([0, 0, 0, 0]);
  expect(world.factorSignIns.find(attempt.token)).toBeUndefined();
  const open = world.db.read
    .select()
    .from(loginSessions)
    .all()
    .filter(({ endedAtMs }) => endedAtMs === null);
  expect(open).toEqual([]);
  const app = await addApp(world);
  world.clock.advance(STEP_MS);
  const next = await attemptOf(world);
  expect(await outcomeOf(world.factorSignIns.prove(next, codeNow(world, app)))).toBe("done");
});

test("a reset of a user without a factor changes nothing", async () => {
  await using world = await createFactorWorld();
  const session = await sessionOf(world);
  expect(await createFactorReset(world).reset(world.system, world.user.id)).toMatchObject({
    isChange: false,
  });
  expect(world.ownFactors.isConfirmed(session)).toBe(true);
});

test("a restored user has no factor", async () => {
  await using world = await createFactorWorld();
  await addApp(world);
  await world.identity.users.setStatus(world.system, world.user.id, "suspended");
  expect(factorRowsIn(world)[0]).toBe(1);
  await world.identity.users.remove(world.system, world.user.id);
  expect(factorRowsIn(world)).toEqual([0, 0, 0, 0]);
});

test("the secret of an app is sealed again under a new sealing key", async () => {
  await using world = await createFactorWorld();
  const app = await addApp(world);
  const secrets = authenticatorSecrets(world);
  const from = world.sealing.activeKey().id;
  const { id } = world.sealing.addKey();
  expect([...secrets.count(world.db.read)]).toEqual([[from, 1]]);
  const part = { from, after: undefined, limit: 10 };
  const step = await world.db.write((tx) => secrets.rewrap(tx, part), "access");
  expect(step).toEqual({ rewrapped: 1, unreadable: 0, next: undefined });
  expect([...secrets.count(world.db.read)]).toEqual([[id, 1]]);
  world.clock.advance(STEP_MS);
  const attempt = await attemptOf(world);
  expect(await outcomeOf(world.factorSignIns.prove(attempt, codeNow(world, app)))).toBe("done");
});

test("the sweep removes expired sign-ins and answered challenges", async () => {
  await using world = await createFactorWorld();
  const passkey = await addPasskey(world);
  const attempt = await attemptOf(world);
  const response = passkey.get(await requestOf(world, attempt));
  await world.factorSignIns.prove(attempt, { passkey: response });
  await attemptOf(world);
  const left = () =>
    [signInAttempts, spentChallenges].map((table) => world.db.read.select().from(table).all().length);
  world.clock.advance(ATTEMPT_TTL_MS - 1);
  await sweepLogins(world, new AbortController().signal);
  expect(left()).toEqual([1, 2]);
  world.clock.advance(1);
  const swept = await sweepLogins(world, new AbortController().signal);
  expect(swept).toMatchObject({ signInAttempts: 1, passkeyChallenges: 2 });
  expect(left()).toEqual([0, 0]);
});
