// Logins and what they give: joins the files of the area. Each part says in its own file what it does.
import { type Clock, SECOND_MS } from "../../platform/clock.ts";
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Identity } from "../identity/service.ts";
import { createAccessTokens } from "./access-tokens.ts";
import { createAuthenticator } from "./authenticate.ts";
import { DeviceLogins } from "./device-logins.ts";
import { GrantHolders } from "./grant-holders.ts";
import { Grants } from "./grants.ts";
import { LoginSessions } from "./login-sessions.ts";
import { createLoginWatch } from "./login-watch.ts";
import { Logins } from "./logins.ts";
import { OwnLogins } from "./own-logins.ts";
import { PasswordChanges } from "./password-change.ts";
import type { AccessSettings, LimitSettings } from "./settings.ts";
import { SigningKeys } from "./signing-keys.ts";
import { createStandingLogins } from "./standing-logins.ts";
import { type Swept, sweepLogins } from "./sweep.ts";
import { VerifiedTokens } from "./verified-tokens.ts";

export type { Authenticator, Principal } from "./authenticate.ts";
export type { DeviceLoginView } from "./device-logins.ts";
export type { Caller, TokenAnswer } from "./grant-messages.ts";
export { type LoginWatch, loginIdOf } from "./login-watch.ts";
export type { LoginView } from "./logins.ts";
export type { AccessSettings, LimitSettings } from "./settings.ts";
export type { SigningKeyView } from "./signing-keys.ts";
export type { FindStandingLogin, StandingLogin } from "./standing-logins.ts";

export interface AccessDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  sealing: Sealing;
  identity: Identity;
  settings: AccessSettings;
  limits: LimitSettings;
}

/** As many holders as tokens, for each of a fleet has one. */
const HOLDER_BYTES_PER_TOKEN_BYTE = 1.5;

export type Access = ReturnType<typeof createAccess>;

/** @returns the operations of the area; made once, in domain.ts */
export function createAccess(dependencies: AccessDependencies) {
  const { settings, clock } = dependencies;
  const keys = new SigningKeys(dependencies);
  const verified = new VerifiedTokens(settings.tokenMemoryBytes);
  const holders = new GrantHolders(settings.tokenMemoryBytes * HOLDER_BYTES_PER_TOKEN_BYTE);
  const tokens = createAccessTokens({
    ...dependencies,
    keys,
    // What we signed ourselves needs no verification when it comes back.
    minted: (token, read) => verified.add(token, read, Math.floor(clock.nowMs() / SECOND_MS)),
  });
  const sessions = new LoginSessions(dependencies);
  const logins = new Logins(dependencies);
  return {
    settings,
    keys,
    tokens,
    sessions,
    authenticator: createAuthenticator({ ...dependencies, keys, tokens, sessions, verified, holders }),
    /** Taken by what is remembered of verified tokens. */
    tokenMemoryBytes: (): number => verified.bytes + holders.bytes,
    deviceLogins: new DeviceLogins(dependencies),
    grants: new Grants({ ...dependencies, accessTokens: tokens }),
    logins,
    ownLogins: new OwnLogins({ ...dependencies, logins }),
    passwordChanges: new PasswordChanges({ ...dependencies, sessions }),
    /** The whole login behind a grant: see standing-logins.ts. */
    standingLogin: createStandingLogins(dependencies),
    /** For callers who stay connected: see login-watch.ts. */
    loginWatch: createLoginWatch(dependencies),
    /** Removes dead rows; a job of the service. */
    sweep: (signal: AbortSignal): Promise<Swept> => sweepLogins({ ...dependencies, sessions }, signal),
  };
}
