// A world with the access area joined to the real identity area, one member who can sign in, and shortcuts for rows that
// device login would make.
import { join } from "node:path";
import { createAuthenticator } from "../../../src/domain/access/authentication/authenticate.ts";
import { GrantHolders } from "../../../src/domain/access/authentication/grant-holders.ts";
import { VerifiedTokens } from "../../../src/domain/access/authentication/verified-tokens.ts";
import { endLogins } from "../../../src/domain/access/logins/end-logins.ts";
import { removeFactors } from "../../../src/domain/access/second-factor/factor-reset.ts";
import { FactorSetup } from "../../../src/domain/access/second-factor/factor-setup.ts";
import { OwnSecondFactors } from "../../../src/domain/access/second-factor/own-second-factors.ts";
import { SecondFactors } from "../../../src/domain/access/second-factor/second-factors.ts";
import { SignInAttempts } from "../../../src/domain/access/second-factor/sign-in-attempts.ts";
import type { AccessSettings, LimitSettings } from "../../../src/domain/access/settings.ts";
import { FactorSignIns } from "../../../src/domain/access/sign-in/factor-sign-in.ts";
import { LoginSessions } from "../../../src/domain/access/sign-in/login-sessions.ts";
import { forgetGuesses } from "../../../src/domain/access/sign-in/password-guesses.ts";
import { deviceLogins, grants, refreshTokens, signingKeys } from "../../../src/domain/access/tables.ts";
import { createAccessTokens } from "../../../src/domain/access/tokens/access-tokens.ts";
import { SigningKeys } from "../../../src/domain/access/tokens/signing-keys.ts";
import { OAUTH_CLIENT_ID, USER_SCOPES } from "../../../src/domain/access/wire.ts";
import { createKeyRetirement } from "../../../src/domain/gateway/keys/key-retirement.ts";
import { Idempotency } from "../../../src/domain/idempotency/service.ts";
import { createIdentity, type User } from "../../../src/domain/identity/service.ts";
import { removeExpectations } from "../../../src/domain/sso/identities/expected-store.ts";
import { createRemoveIdentities } from "../../../src/domain/sso/identities/unlinking.ts";
import { createIsConfirmed } from "../../../src/domain/sso/service.ts";
import { DAY_MS, SECOND_MS } from "../../../src/platform/clock.ts";
import { createPasswords } from "../../../src/platform/crypto/passwords.ts";
import { openSealing } from "../../../src/platform/crypto/sealing.ts";
import type { Tx } from "../../../src/platform/database/database.ts";
import { randomToken, sha256Hex } from "../../../src/platform/ids.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { createWorld, type World } from "../../support/world.ts";

export const BASE_URL = "https://control.example.com";
export const PASSWORD = "correct horse battery";
/** argon2id parameters that make tests fast */
const CHEAP = { memoryKib: 64, passes: 1 };

export const SETTINGS: AccessSettings = {
  baseUrl: () => BASE_URL,
  accessTokenTtlSeconds: 900,
  refreshTokenTtlSeconds: 2_592_000,
  browserSessionTtlSeconds: 43_200,
  deviceCodeTtlSeconds: 600,
  pollIntervalSeconds: 5,
  signingKeyRotationDays: 30,
  tokenMemoryBytes: 1_048_576,
  identityMode: "password",
  provider: { providerId: "oidc", providerName: "company sign-in" },
  secondFactor: "optional",
};

export const LIMITS: LimitSettings = {
  passwordGuessesPerAccountAndAddress: 3,
  passwordGuessesPerAccount: 7,
  passwordGuessesPerAddress: 5,
  secondFactorGuesses: 5,
  userCodeGuessesPerUser: 5,
  userCodeGuessesPerAddress: 20,
  deviceCodesPerAddress: 60,
  pendingLoginsPerAddress: 200,
  pendingLoginsPerNetwork: 1000,
  invitationsPerActor: 100,
  windowSeconds: 900,
};

export interface Grant {
  id: string;
  clientId: string;
  resource: string;
  sid: string;
}

export type AccessWorld = Awaited<ReturnType<typeof createAccessWorld>>;

export async function createAccessWorld(settings: Partial<AccessSettings> = {}) {
  const world = await createWorld();
  const all = { ...SETTINGS, ...settings };
  const parts = joinParts(world, all);
  await parts.keys.ensure(world.system);
  const member = await parts.identity.users.create(world.system, {
    email: "ada@example.com",
    role: "member",
    password: new Secret(PASSWORD),
  });
  return {
    ...world,
    ...parts,
    settings: all,
    user: member.user,
    addPublicKey: (jwk: Jwk) => addPublicKey(world, jwk),
  };
}

interface Jwk extends JsonWebKey {
  kid: string;
  alg: string;
  use: string;
}

/** A retired key of any algorithm that verifies from now on. */
const addPublicKey = ({ db, clock }: World, jwk: Jwk): Promise<unknown> =>
  db.write((tx) => {
    const times = {
      createdAtMs: clock.nowMs(),
      retiredAtMs: clock.nowMs(),
      verifiesUntilMs: clock.nowMs() + DAY_MS,
    };
    const key = { kid: jwk.kid, algorithm: jwk.alg, publicJwk: JSON.stringify(jwk), sealedPrivateKey: "" };
    tx.insert(signingKeys)
      .values({ ...key, ...times })
      .run();
  }, "access");

/** Connects the parts like domain.ts; `openSealing` reads the keys again, like another process. */
function joinParts(world: World, settings: AccessSettings) {
  const { db, clock, ids, audit, directory } = world;
  const passwords = createPasswords({ cost: CHEAP });
  const sealing = openSealing({ directory: join(directory, "keys"), ids });
  const identity = createIdentity({
    db,
    clock,
    ids,
    audit,
    passwords,
    idempotency: new Idempotency({ db, clock, sealing }),
    endLogins,
    retireGatewayKey: createKeyRetirement(world),
    spendLink: () => {},
    forgetGuesses,
    removeFactors,
    removeIdentities: createRemoveIdentities(world),
    removeExpectations,
    settings: {
      mode: settings.identityMode,
      invites: settings.identityMode === "password",
      hasProvider: false,
      groupRoleMappings: {},
    },
  });
  const isConfirmed = createIsConfirmed(() => undefined);
  const keys = new SigningKeys({ db, clock, audit, sealing, settings });
  const verified = new VerifiedTokens(settings.tokenMemoryBytes);
  const holders = new GrantHolders(settings.tokenMemoryBytes);
  const tokens = createAccessTokens({ clock, ids, keys, settings, minted: () => {} });
  const machine = { db, clock, ids, audit, sealing, identity, settings, limits: LIMITS };
  const factors = new SecondFactors(machine);
  const attempts = new SignInAttempts({ ...machine, factors });
  const sessions = new LoginSessions({ ...machine, factors, attempts });
  const setup = new FactorSetup({ ...machine, factors });
  const factorSignIns = new FactorSignIns({ ...machine, factors, attempts, sessions, setup });
  const ownFactors = new OwnSecondFactors({ ...machine, factors, setup });
  const authenticator = createAuthenticator({
    db,
    clock,
    tokens,
    keys,
    sessions,
    identity,
    verified,
    holders,
    isConfirmed,
  });
  const access = {
    passwords,
    sealing,
    identity,
    keys,
    tokens,
    sessions,
    verified,
    holders,
    authenticator,
    isConfirmed,
  };
  return { ...access, factors, attempts, setup, factorSignIns, ownFactors };
}

/** The result of one redeemed device login, with its own refresh token and one more pending device login. */
export async function addGrant(world: AccessWorld, user: User = world.user): Promise<Grant> {
  const nowMs = world.clock.nowMs();
  return await world.db.write((tx) => {
    const { id: sid } = world.sessions.open(tx, user.id, { address: null, userAgent: null });
    const grant = { id: world.ids.uuid(), clientId: OAUTH_CLIENT_ID, resource: BASE_URL };
    const times = { createdAtMs: nowMs, expiresAtMs: nowMs + SETTINGS.refreshTokenTtlSeconds * SECOND_MS };
    const scope = USER_SCOPES.join(" ");
    tx.insert(grants)
      .values({ ...grant, ...times, userId: user.id, loginSessionId: sid, scope, refreshedAtMs: nowMs })
      .run();
    const tokenHash = sha256Hex(randomToken(world.ids));
    tx.insert(refreshTokens)
      .values({ ...times, tokenHash, grantId: grant.id })
      .run();
    addPendingDeviceLogin(tx, world, { userId: user.id, loginSessionId: sid });
    return { ...grant, sid };
  }, "access");
}

function addPendingDeviceLogin(
  tx: Tx,
  { ids, clock }: AccessWorld,
  binding: { userId: string; loginSessionId: string },
): void {
  const code = () => sha256Hex(randomToken(ids));
  const codes = { deviceCodeHash: code(), userCodeHash: code(), linkHash: code() };
  const nowMs = clock.nowMs();
  const times = { createdAtMs: nowMs, expiresAtMs: nowMs + SETTINGS.deviceCodeTtlSeconds * SECOND_MS };
  const row = { id: ids.uuid(), ...codes, ...times, ...binding, clientId: OAUTH_CLIENT_ID, scope: "openid" };
  tx.insert(deviceLogins)
    .values({ ...row, state: "pending" })
    .run();
}

/** @returns an access token of that grant */
export function mintToken(
  world: AccessWorld,
  grant: Grant,
  { user = world.user, scope = USER_SCOPES.join(" ") }: { user?: User; scope?: string } = {},
): string {
  const request = {
    user,
    grant,
    scope,
    sid: grant.sid,
    issuedAtMs: world.clock.nowMs(),
  };
  return world.tokens.mint(request).accessToken;
}
