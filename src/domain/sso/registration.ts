// The URIs that an administrator registers at the provider.
import { scopesOf } from "./provider/client/authorization.ts";
import type { SsoSettings } from "./settings.ts";

/** Path to which the provider sends browsers back; the provider id follows. */
export const CALLBACK_PATH = "/api/auth/callback";
/** Path for the provider's logout announcements; the provider id follows. */
export const LOGOUT_PATH = "/api/auth/backchannel-logout";
/** Path to which the provider sends browsers after a sign-out there. */
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
