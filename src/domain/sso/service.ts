// Sign-in at the company's identity provider (OpenID Connect): joins the files of the area.

import type { Sealing } from "../../platform/crypto/sealing.ts";
import { Admission, type AdmissionDependencies } from "./admission/admission.ts";
import { SignInAttempts } from "./browser/attempts.ts";
import { Proofs } from "./browser/proofs.ts";
import { readPerson } from "./claims.ts";
import { Identities, type IdentitiesDependencies } from "./identities/identities.ts";
import { ProviderLogout, type ProviderLogoutDependencies } from "./logout/provider-logout.ts";
import type { Person, VerifiedClaims } from "./model.ts";
import { Provider, type ProviderDependencies } from "./provider/provider.ts";
import { countDueSoon } from "./reconfirmation.ts";
import type { CurrentSsoSettings, SsoSettings } from "./settings.ts";

export type { Admitted, Explanation } from "./admission/admission.ts";
export type { Person, SsoReason, VerifiedClaims } from "./model.ts";
export type { Attempt } from "./provider/client/oidc-client.ts";
export type { ProviderRequest } from "./provider/provider-requests.ts";
export type { LogoutToken } from "./provider/tokens/logout-token.ts";
export { createIsConfirmed } from "./reconfirmation.ts";
export type { CurrentSsoSettings, SsoSettings } from "./settings.ts";

export type SsoDependencies = AdmissionDependencies &
  IdentitiesDependencies &
  ProviderLogoutDependencies &
  ProviderDependencies & {
    settings: CurrentSsoSettings;
    sealing: Pick<Sealing, "mac" | "seal" | "open">;
  };

export type Sso = ReturnType<typeof createSso>;

/** @returns the operations of the area; created once, in domain.ts */
export function createSso(dependencies: SsoDependencies) {
  const { settings, db, clock } = dependencies;
  return {
    settings,
    provider: new Provider(dependencies),
    admission: new Admission(dependencies),
    attempts: new SignInAttempts(dependencies),
    proofs: new Proofs(dependencies),
    identities: new Identities(dependencies),
    logout: new ProviderLogout(dependencies),

    /** @returns the person that verified claims describe @throws DomainError `sso.claims_invalid` */
    personIn: (claims: VerifiedClaims, current: SsoSettings): Person => readPerson(claims, current),

    /** @returns how many users must sign in at the provider again within a day */
    countDueSoon: (): number => countDueSoon(db, settings, clock.nowMs()),
  };
}
