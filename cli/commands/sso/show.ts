// `sso show`: what to register at the identity provider, and the state of sign-in there.
import { operatorRemedy, publicClientKey, type SsoSettings } from "../../../src/domain/sso/service.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText, type Fact } from "../../output/details.ts";

export async function show({ domain, output, config }: Call): Promise<void> {
  const { sso } = domain;
  const mode = config.get("identity.mode");
  const settings = sso.settings();
  const registration = sso.registration();
  const status = sso.status();
  if (!settings || !registration) {
    const text = detailsText([
      ["mode", mode],
      ["provider", "none: set identity.oidc.issuer"],
    ]);
    return output.result({ mode, ...status }, text);
  }
  const key = await clientKeyOf(settings);
  const document = {
    mode,
    ...status,
    client_id: settings.clientId,
    client_auth: settings.credential.method,
    client_key: key ?? null,
    scopes: registration.scopes,
    post_logout_redirect_uri: registration.postLogoutRedirectUri,
    backchannel_logout_uri: registration.backchannelLogoutUri,
    outgoing: sso.provider.destinations().map(({ name, origin }) => ({ name, origin })),
  };
  const facts: Fact[] = [
    ["mode", mode],
    ["provider", settings.providerName],
    ["issuer", settings.issuer],
    ["client id", settings.clientId],
    ["client authentication", settings.credential.method],
    ["provisioning", settings.provisioning],
    ["scopes", registration.scopes.join(" ")],
    ["redirect URI", status.redirect_uri ?? UNKNOWN],
    ["post-logout redirect URI", registration.postLogoutRedirectUri ?? UNKNOWN],
    ["back-channel logout URI", registration.backchannelLogoutUri ?? UNKNOWN],
    ...(key === undefined ? [] : [["public key of the client", JSON.stringify(key)] as const]),
    ["last error", status.last_error_reason],
    ...remedyFacts(status.last_error_reason),
    ["last success", status.last_success_at],
  ];
  output.result(document, detailsText(facts));
}

function remedyFacts(reason: string | null): Fact[] {
  const remedy = reason === null ? undefined : operatorRemedy(reason);
  return remedy === undefined ? [] : [["", remedy]];
}

const UNKNOWN = "unknown: set server.public_url";

const clientKeyOf = async ({ credential }: SsoSettings) =>
  credential.method === "private_key_jwt" ? await publicClientKey(credential.key) : undefined;
