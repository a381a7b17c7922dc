// Logouts that the provider announces (OpenID Connect Back-Channel Logout 1.0): ends the named browser sessions and pending device
// logins. provider/ has verified the token.
import type { Clock } from "../../../platform/clock.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Audit } from "../../audit/service.ts";
import type { Identity } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { EndedAtProvider, EndProviderSessions } from "../dependencies.ts";
import { findBySubject } from "../identities/identities-store.ts";
import type { CurrentSsoSettings } from "../settings.ts";
import type { AnnouncedLogouts } from "./announced-logouts.ts";
import * as store from "./logout-tokens-store.ts";

/** A verified logout token, which names a session, a person, or both. */
export interface LogoutToken {
  issuer: string;
  subject?: string | undefined;
  providerSessionId?: string | undefined;
  /** `jti` */
  tokenId: string;
  issuedAtMs: number;
  expiresAtMs: number;
}

export interface ProviderLogoutDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  identity: Pick<Identity, "findOrganization">;
  endProviderSessions: EndProviderSessions;
  settings: CurrentSsoSettings;
  /** called for each logout, to stop running sign-ins */
  announced: Pick<AnnouncedLogouts, "add">;
}

export class ProviderLogout {
  constructor(private readonly dependencies: ProviderLogoutDependencies) {}

  /**
   * A token for a session or a person that is unknown here ends nothing and is not an error.
   * @returns how many browser sessions and grants ended
   * @throws DomainError `sso.token_invalid` for a token that was used before
   */
  apply(token: LogoutToken, origin: Pick<Actor, "address" | "requestId">) {
    return this.dependencies.db.write((tx) => {
      const { issuer, tokenId, expiresAtMs } = token;
      if (!store.use(tx, { issuer, tokenId, expiresAtMs })) throw tokenUsed();
      this.dependencies.announced.add(token);
      const ended = this.#end(tx, token);
      if (ended.loginSessions + ended.grants > 0) this.#record(tx, token, { ended, origin });
      return ended;
    }, "access");
  }

  /** Removes used tokens that have expired. @returns how many */
  sweep(): Promise<number> {
    return this.dependencies.db.write(
      (tx) => store.removeExpired(tx, this.dependencies.clock.nowMs()),
      "unobserved",
    );
  }

  #end(tx: Tx, { issuer, subject, providerSessionId }: LogoutToken) {
    const link = subject === undefined ? undefined : findBySubject(tx, { issuer, subject });
    const whose: EndedAtProvider | undefined =
      providerSessionId === undefined
        ? link && { userId: link.userId }
        : { issuer, providerSessionId, userId: link?.userId };
    if (!whose) return { loginSessions: 0, grants: 0 };
    const endsGrants = this.dependencies.settings()?.logoutEndsGrants === true;
    const nowMs = this.dependencies.clock.nowMs();
    return this.dependencies.endProviderSessions(tx, {
      ...whose,
      endsGrants,
      reason: "provider_logout",
      nowMs,
    });
  }

  #record(
    tx: Tx,
    { issuer, tokenId }: LogoutToken,
    {
      ended,
      origin,
    }: { ended: ReturnType<EndProviderSessions>; origin: Pick<Actor, "address" | "requestId"> },
  ): void {
    const organization = this.dependencies.identity.findOrganization(tx);
    if (!organization) return;
    const actor: Actor = {
      kind: "system",
      id: null,
      label: "identity provider",
      organizationId: organization.id,
      ...origin,
    };
    const after = { issuer, login_sessions: ended.loginSessions, grants: ended.grants };
    this.dependencies.audit.record(tx, { actor, action: "identity_provider.logout", target: tokenId, after });
  }
}

const tokenUsed = () => new DomainError("invalid", "sso.token_invalid", "this logout token was used before");
