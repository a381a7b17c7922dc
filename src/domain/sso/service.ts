// Sign-in at the company's identity provider (OpenID Connect): joins the files of the area.

import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Actor } from "../shared/actor.ts";
import { Admission, type AdmissionDependencies } from "./admission/admission.ts";
import { type Preview, previewOf } from "./admission/preview.ts";
import { SignInAttempts } from "./browser/attempts.ts";
import { Proofs } from "./browser/proofs.ts";
import { readPerson } from "./claims.ts";
import type { SignInOutcome } from "./dependencies.ts";
import { stateUnknown } from "./errors.ts";
import { Identities, type IdentitiesDependencies } from "./identities/identities.ts";
import { IdentityMoves, type MovesDependencies } from "./identities/moves.ts";
import { AnnouncedLogouts } from "./logout/announced-logouts.ts";
import { ProviderLogout, type ProviderLogoutDependencies } from "./logout/provider-logout.ts";
import type { Person, VerifiedClaims } from "./model.ts";
import { Provider, type ProviderDependencies } from "./provider/provider.ts";
import { type ProviderFinding, verifyProvider } from "./provider/verification.ts";
import { type ProviderChangeDependencies, recordProviderChange, redirectUriAt } from "./provider-change.ts";
import { countDueSoon } from "./reconfirmation.ts";
import { type Registration, registrationOf } from "./registration.ts";
import type { CurrentSsoSettings } from "./settings.ts";
import { oidcStatus } from "./status.ts";

export type { Preview } from "./admission/preview.ts";
export type { SsoObserver } from "./dependencies.ts";
export type { IdentityView, NewIdentity } from "./identities/identities.ts";
export type { Move, MovePlan } from "./identities/moves.ts";
export type { Person } from "./model.ts";
export { isReportedByBrowser, SSO_REASONS } from "./model.ts";
export { clientKeyProblem, publicClientKey } from "./provider/client/client-credential.ts";
export type { Attempt } from "./provider/client/oidc-client.ts";
export {
  destinationsOf as providerDestinations,
  PROVIDER_DESTINATION,
} from "./provider/discovery/destinations.ts";
export { discoveryUrl, type ProviderMetadata } from "./provider/discovery/metadata.ts";
export { storedMetadataOf } from "./provider/provider-records.ts";
export {
  PROVIDER_ENDPOINTS,
  REQUEST_OUTCOMES,
} from "./provider/provider-requests.ts";
export { createIsConfirmed } from "./reconfirmation.ts";
export type { Registration } from "./registration.ts";
export { CALLBACK_PATH, LOGOUT_PATH, SIGNED_OUT_PATH } from "./registration.ts";
export { operatorRemedy } from "./remedies.ts";
export type { CurrentSsoSettings, SsoSettings } from "./settings.ts";
export { OidcStatus } from "./status.ts";

export type SsoDependencies = Omit<AdmissionDependencies, "announced"> &
  IdentitiesDependencies &
  MovesDependencies &
  Omit<ProviderLogoutDependencies, "announced"> &
  ProviderDependencies &
  ProviderChangeDependencies & {
    settings: CurrentSsoSettings;
    sealing: Pick<Sealing, "mac" | "seal" | "open">;
  };

/** Refusals that show an operator that the provider or the settings must change. */
const SHOWN_TO_OPERATORS: ReadonlySet<SignInOutcome> = new Set(["sso.groups_overage", "sso.claims_invalid"]);

export type Sso = ReturnType<typeof createSso>;

/** @returns the operations of the area; created once, in domain.ts */
export function createSso(dependencies: SsoDependencies) {
  const { settings, db, clock, observeSso, origin } = dependencies;
  const provider = new Provider(dependencies);
  const ended = (outcome: SignInOutcome): void => {
    observeSso?.ended(outcome);
    if (outcome === "signed_in") void provider.noteSuccess();
    else if (SHOWN_TO_OPERATORS.has(outcome)) void provider.noteRefusal(outcome);
  };
  const announced = new AnnouncedLogouts(clock);
  const admission = new Admission({ ...dependencies, ended, announced });
  return {
    settings,
    provider,
    admission,
    attempts: new SignInAttempts({ ...dependencies, ended }),
    proofs: new Proofs(dependencies),
    identities: new Identities(dependencies),
    moves: new IdentityMoves(dependencies),
    logout: new ProviderLogout({ ...dependencies, announced }),

    /**
     * @returns the person that verified claims describe, by the current rules
     * @throws DomainError `sso.claims_invalid`; `sso.state` if a reload has removed the provider
     */
    personIn(claims: VerifiedClaims): Person {
      const current = settings();
      if (!current) throw stateUnknown();
      try {
        return readPerson(claims, current);
      } catch (error) {
        ended("sso.claims_invalid");
        throw error;
      }
    },

    /**
     * Changes nothing, counts nothing, and sends no request.
     * @returns what a sign-in with these claims would do; without `iss` they are of the configured provider
     * @throws DomainError `sso.not_configured`
     */
    preview: (claims: VerifiedClaims): Preview =>
      previewOf(claims, { admission, settings: provider.connection().settings }),

    /** @returns the state of sign-in at the provider, without secrets */
    status: () => oidcStatus(settings(), provider.record(), origin()),

    /** @returns what to register at the provider; undefined without one */
    registration(): Registration | undefined {
      const current = settings();
      return current && registrationOf(origin(), current);
    },

    /** Checks the provider before anyone signs in. @throws DomainError `sso.not_configured` */
    verify: (organizationId: string) => verifyConfigured(dependencies, provider, organizationId),

    /** @returns whether the provider was configured, changed or removed since this was last called */
    recordChange: (actor: Actor): Promise<boolean> => recordProviderChange(dependencies, actor, settings()),

    /** @returns how many users must sign in at the provider again within a day */
    countDueSoon: (): number => countDueSoon(db, settings, clock.nowMs()),
  };
}

async function verifyConfigured(
  dependencies: SsoDependencies,
  provider: Provider,
  organizationId: string,
): Promise<ProviderFinding[]> {
  const connection = provider.connection();
  const { redirectUri } = registrationOf(dependencies.origin(), connection.settings);
  const lastSuccessAtMs = provider.record()?.lastSuccessAtMs ?? undefined;
  const formerRedirectUri =
    lastSuccessAtMs === undefined ? undefined : redirectUriAt(dependencies, organizationId, lastSuccessAtMs);
  return await verifyProvider(connection, { redirectUri: redirectUri ?? undefined, formerRedirectUri });
}
