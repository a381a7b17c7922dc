// Joins the files of the access area: logins and their credentials.
import { type Clock, SECOND_MS } from "../../platform/clock.ts";
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Identity } from "../identity/service.ts";
import { createActiveLogins } from "./authentication/active-logins.ts";
import { loginExpiryOf } from "./authentication/active-logins-store.ts";
import { createAuthenticator } from "./authentication/authenticate.ts";
import { GrantHolders } from "./authentication/grant-holders.ts";
import { createLoginWatch } from "./authentication/login-watch.ts";
import { VerifiedTokens } from "./authentication/verified-tokens.ts";
import type { IsConfirmed } from "./dependencies.ts";
import { DeviceLogins } from "./device-login/device-logins.ts";
import { Logins } from "./logins/logins.ts";
import { OwnLogins } from "./logins/own-logins.ts";
import { createConfirmationCheck } from "./second-factor/confirmations.ts";
import { createFactorReset } from "./second-factor/factor-reset.ts";
import { FactorSetup } from "./second-factor/factor-setup.ts";
import { isRequired } from "./second-factor/model.ts";
import { OwnSecondFactors } from "./second-factor/own-second-factors.ts";
import { SecondFactors } from "./second-factor/second-factors.ts";
import { SignInAttempts } from "./second-factor/sign-in-attempts.ts";
import type { AccessSettings, LimitSettings } from "./settings.ts";
import { FactorSignIns } from "./sign-in/factor-sign-in.ts";
import { FormOwners } from "./sign-in/form-owner.ts";
import { LoginSessions } from "./sign-in/login-sessions.ts";
import { PasswordChanges } from "./sign-in/password-change.ts";
import { type Swept, sweepLogins } from "./sweep.ts";
import { createAccessTokens } from "./tokens/access-tokens.ts";
import { Grants } from "./tokens/grants.ts";
import { SigningKeys } from "./tokens/signing-keys.ts";

export type { ActiveLogin, FindActiveLogin } from "./authentication/active-logins.ts";
export type { Principal } from "./authentication/authenticate.ts";
export { type LoginWatch, loginIdOf } from "./authentication/login-watch.ts";
export { countedAddress } from "./budgets/counted-address.ts";
export type { IsConfirmed } from "./dependencies.ts";
export type { DeviceLoginView } from "./device-login/device-logins.ts";
export type { EndedAccess } from "./logins/end-logins.ts";
export { type LoginView, summaryOf as endedSummary } from "./logins/logins.ts";
export type { AccessSettings, LimitSettings } from "./settings.ts";
export type { OpenedSession, Origin, SignedIn, SignInMethod } from "./sign-in/login-sessions.ts";
export type { Caller, TokenResponse } from "./tokens/grant-messages.ts";

export interface AccessDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  sealing: Sealing;
  identity: Identity;
  settings: AccessSettings;
  limits: LimitSettings;
  isConfirmed: IsConfirmed;
}

/** Reserves space for as many holders as tokens, because each workstation has one holder and one token. */
const HOLDER_BYTES_PER_TOKEN_BYTE = 1.5;

export type Access = ReturnType<typeof createAccess>;

/** @returns the operations of the area; created once, in domain.ts */
export function createAccess(dependencies: AccessDependencies) {
  const { settings, clock } = dependencies;
  const keys = new SigningKeys(dependencies);
  const verified = new VerifiedTokens(settings.tokenMemoryBytes);
  const holders = new GrantHolders(settings.tokenMemoryBytes * HOLDER_BYTES_PER_TOKEN_BYTE);
  const tokens = createAccessTokens({
    ...dependencies,
    keys,
    // Caches the token, because a token that we signed needs no verification.
    minted: (token, read) => verified.add(token, read, Math.floor(clock.nowMs() / SECOND_MS)),
  });
  const factors = new SecondFactors(dependencies);
  const attempts = new SignInAttempts({ ...dependencies, factors });
  const sessions = new LoginSessions({ ...dependencies, factors, attempts });
  const setup = new FactorSetup({ ...dependencies, factors });
  const requireConfirmation = createConfirmationCheck({ ...dependencies, factors });
  const logins = new Logins(dependencies, requireConfirmation);
  return {
    settings,
    keys,
    tokens,
    sessions,
    authenticator: createAuthenticator({ ...dependencies, keys, tokens, sessions, verified, holders }),
    /** Bytes used by the caches of verified tokens and their holders. */
    tokenMemoryBytes: (): number => verified.bytes + holders.bytes,
    deviceLogins: new DeviceLogins({ ...dependencies, factors }),
    grants: new Grants({ ...dependencies, accessTokens: tokens }),
    logins,
    ownLogins: new OwnLogins({ ...dependencies, logins }),
    /** Marks of forms: see form-owner.ts. */
    formOwners: new FormOwners(dependencies),
    passwordChanges: new PasswordChanges({ ...dependencies, sessions }),
    factors,
    factorSignIns: new FactorSignIns({ ...dependencies, factors, attempts, sessions, setup }),
    ownFactors: new OwnSecondFactors({ ...dependencies, factors, setup }),
    /** @returns the number of administrators who must have a second factor and have none yet */
    administratorsWithoutFactor: (organizationId: string): number =>
      isRequired(settings.secondFactor, "admin")
        ? dependencies.identity
            .passwordAdministrators(organizationId)
            .filter((id) => !factors.has(dependencies.db.read, id)).length
        : 0,
    factorReset: createFactorReset(dependencies),
    /** See confirmations.ts. */
    requireConfirmation,
    /** The login of a grant: see active-logins.ts. */
    standingLogin: createActiveLogins(dependencies),
    loginExpiryOf,
    /** For callers that stay connected: see login-watch.ts. */
    loginWatch: createLoginWatch(dependencies),
    /** Removes expired rows; a job of the service calls it. */
    sweep: (signal: AbortSignal): Promise<Swept> => sweepLogins({ ...dependencies, sessions }, signal),
  };
}
