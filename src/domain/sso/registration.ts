// What an administrator registers at the provider for this service.
import { scopesOf } from "./provider/client/authorization.ts";
import type { SsoSettings } from "./settings.ts";

/** Where the provider sends browsers back; followed by the provider id. */
export const CALLBACK_PATH = "/api/auth/callback";
/** Where the provider announces logouts; followed by the provider id. */
export const LOGOUT_PATH = "/api/auth/backchannel-logout";
/** Where the provider sends browsers after a sign-out there. */
export const SIGNED_OUT_PATH = "/signed-out";

/** URIs of this service; null while its origin is not known. */
export interface Registration {
  redirectUri: string | null;
  postLogoutRedirectUri: string | null;
  backchannelLogoutUri: string | null;
  scopes: readonly string[];
}

/** @param origin of this service; empty if it is not known */
export function registrationOf(
  origin: string,
  settings: Pick<SsoSettings, "providerId" | "extraScopes">,
): Registration {
  const at = (path: string) => (origin === "" ? null : `${origin}${path}`);
  const { providerId } = settings;
  return {
    redirectUri: at(`${CALLBACK_PATH}/${providerId}`),
    postLogoutRedirectUri: at(SIGNED_OUT_PATH),
    backchannelLogoutUri: at(`${LOGOUT_PATH}/${providerId}`),
    scopes: scopesOf(settings),
  };
}
