// Next steps for an operator when the provider's discovery document or keys cannot be used. verification.ts shows them.
import type { DomainError } from "../../../../platform/errors.ts";
import { ProviderFailure, type ProviderFault } from "../failures.ts";

/** @param url of the requested document */
const REMEDIES: Record<ProviderFault, (url: string) => string> = {
  certificate: () =>
    "set identity.oidc.ca_file to the certificate of the authority that signed the provider's certificate, in PEM",
  certificate_name: () =>
    "use the host name in the provider's certificate in identity.oidc.issuer, or have the certificate replaced",
  certificate_time: () =>
    "have the certificate of the provider renewed; if it is valid, correct the clock of this machine (timedatectl)",
  busy: (url) =>
    `open ${url} in a browser; if it fails there too, repair the provider, then repeat this command`,
  redirect: (url) =>
    `open ${url} in a browser and see where it leads: set identity.oidc.issuer to the issuer that the document there names`,
  status: (url) =>
    `open ${url} in a browser: if it is not found, correct the path in identity.oidc.issuer, such as the realm or the tenant`,
  not_json: (url) =>
    `open ${url} in a browser: a page instead of JSON comes from a proxy, a sign-in to the network or a wrong path in identity.oidc.issuer`,
  too_large: (url) =>
    `open ${url} in a browser: it must be the discovery document of the provider; correct identity.oidc.issuer`,
  issuer: () =>
    "set identity.oidc.issuer to the issuer that the document names, character by character, if that is your provider; for Entra ID use the issuer of your tenant",
  endpoint: () =>
    "correct the public address of the provider in its own settings: behind a proxy it must announce https endpoints",
};

/** @param url of the requested document @returns the next step */
export function responseRemedy(error: DomainError, url: string): string {
  if (error instanceof ProviderFailure && error.fault) return REMEDIES[error.fault](url);
  return error.reason === "sso.provider_unreachable"
    ? `check the host name, the network and the proxy (HTTPS_PROXY) between this machine and ${url}`
    : `open ${url} in a browser and compare it with identity.oidc.issuer`;
}
