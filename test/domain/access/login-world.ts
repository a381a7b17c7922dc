// A world in which workstations can log in: the access world with device logins, grants and the operator's view, and functions for
// the steps of users.
import {
  DeviceLogins,
  type RequestedDeviceLogin,
} from "../../../src/domain/access/device-login/device-logins.ts";
import { OAuthError } from "../../../src/domain/access/errors.ts";
import { Logins } from "../../../src/domain/access/logins/logins.ts";
import type { AccessSettings, LimitSettings } from "../../../src/domain/access/settings.ts";
import { grants } from "../../../src/domain/access/tables.ts";
import type { TokenResponse } from "../../../src/domain/access/tokens/grant-messages.ts";
import { Grants } from "../../../src/domain/access/tokens/grants.ts";
import { OAUTH_CLIENT_ID } from "../../../src/domain/access/wire.ts";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import type { User } from "../../../src/domain/identity/service.ts";
import type { Actor } from "../../../src/domain/shared/actor.ts";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { type AccessWorld, createAccessWorld, LIMITS, PASSWORD, SETTINGS } from "./access-world.ts";

export interface LoginWorld extends AccessWorld {
  deviceLogins: DeviceLogins;
  grants: Grants;
  logins: Logins;
  limits: LimitSettings;
  settings: AccessSettings;
}

export interface LoginWorldOptions {
  settings?: Partial<AccessSettings>;
  limits?: Partial<LimitSettings>;
}

export async function createLoginWorld(options: LoginWorldOptions = {}): Promise<LoginWorld> {
  const world = await createAccessWorld(options.settings);
  const settings = { ...SETTINGS, ...options.settings };
  const limits = { ...LIMITS, ...options.limits };
  return {
    ...world,
    settings,
    limits,
    deviceLogins: new DeviceLogins({ ...world, settings, limits }),
    grants: anotherProcess({ ...world, settings }),
    logins: new Logins(world),
  };
}

/** @returns the operations of a server with its own memory on the same data directory */
export const anotherProcess = (world: AccessWorld & { settings: AccessSettings }): Grants =>
  new Grants({ ...world, accessTokens: world.tokens });

export const ADDRESS = "192.0.2.7";

export const actorOf = (user: User): Actor => ({
  kind: "user",
  id: user.id,
  label: user.email,
  organizationId: user.organizationId,
  address: ADDRESS,
});

/** Another member who can sign in. */
export async function addUser(world: AccessWorld, email: string): Promise<User> {
  const created = { email, role: "member", password: new Secret(PASSWORD) };
  return (await world.identity.users.create(world.system, created)).user;
}

/** A signed-in browser. */
export interface Browser {
  actor: Actor;
  loginSessionId: string;
  sessionToken: string;
}

export async function signIn(world: AccessWorld, user: User = world.user): Promise<Browser> {
  const opening = { address: ADDRESS, userAgent: null };
  const session = await world.db.write((tx) => world.sessions.open(tx, user.id, opening), "access");
  return { actor: actorOf(user), loginSessionId: session.id, sessionToken: session.token };
}

export const requestLogin = (
  world: LoginWorld,
  form: { scope?: string; resource?: string; address?: string | null } = {},
): Promise<RequestedDeviceLogin> =>
  world.deviceLogins.request({ clientId: OAUTH_CLIENT_ID, address: ADDRESS, ...form });

export async function decide(
  world: LoginWorld,
  { linkToken }: RequestedDeviceLogin,
  step: { browser: Browser; decision: "approve" | "refuse" },
): Promise<void> {
  const { actor, loginSessionId } = step.browser;
  await world.deviceLogins.claim(actor, linkToken);
  await world.deviceLogins.decide(actor, { linkToken, loginSessionId, decision: step.decision });
}

export async function requestApproved(world: LoginWorld, form: { scope?: string } = {}) {
  const login = await requestLogin(world, form);
  const browser = await signIn(world);
  await decide(world, login, { browser, decision: "approve" });
  return { ...login, browser };
}

export const redeem = (world: LoginWorld, deviceCode: string): Promise<TokenResponse> =>
  world.grants.redeem({ deviceCode, clientId: OAUTH_CLIENT_ID });

export const refresh = (world: LoginWorld, refreshToken: string | undefined): Promise<TokenResponse> =>
  world.grants.refresh({ refreshToken, clientId: OAUTH_CLIENT_ID });

/** @returns the refresh token and the grant of another workstation of the user */
export async function logIn(world: LoginWorld, form: { scope?: string } = {}) {
  const { deviceCode, browser } = await requestApproved(world, form);
  const response = await redeem(world, deviceCode);
  const { claims } = world.tokens.read(response.access_token);
  return { ...response, refreshToken: response.refresh_token ?? "", grantId: claims.grant_id, browser };
}

/** @returns the OAuth code or the reason of a failed attempt; `fine` if it succeeded */
export const refusalOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => "fine",
    (error: unknown) =>
      error instanceof OAuthError ? error.code : error instanceof DomainError ? error.reason : error,
  );

export const afterSeconds = (world: LoginWorld, seconds: number): void =>
  world.clock.advance(seconds * SECOND_MS);

export const revokedReasonOf = (world: LoginWorld, grantId: string): string | null | undefined =>
  world.db.read
    .select()
    .from(grants)
    .all()
    .find(({ id }) => id === grantId)?.revokedReason;

/** @returns `action actor` of the audit entries of one action, oldest first */
export const audited = (world: LoginWorld, action: string) =>
  world.db.read
    .select()
    .from(auditEntries)
    .all()
    .filter((entry) => entry.action === action);
