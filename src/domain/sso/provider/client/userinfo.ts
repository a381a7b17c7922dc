// Completes the claims of an ID token with those of userinfo (OpenID Connect Core 1.0 section 5.3) if the rules need more. The
// token takes precedence, because it is signed.
import { isJsonObject } from "../../../../platform/json/json-object.ts";
import type { VerifiedClaims } from "../../model.ts";
import type { SsoSettings } from "../../settings.ts";
import type { IdTokenClaims } from "../tokens/id-token.ts";

/** Claims about the log-on and the token itself, which only a signed token may state. */
const OF_TOKEN_ONLY: ReadonlySet<string> = new Set([
  ...["iss", "sub", "aud", "azp", "exp", "iat", "nbf", "jti", "nonce"],
  ...["sid", "auth_time", "acr", "amr", "at_hash", "c_hash"],
]);

type Userinfo = Readonly<Record<string, unknown>>;

/** @returns whether the token has every claim that the rules use */
export function isComplete(claims: IdTokenClaims, settings: SsoSettings): boolean {
  const { groupRoleMappings, allowedGroups, groupsClaim, externalIdClaim, requiredClaims } = settings;
  const usesGroups = groupRoleMappings.size > 0 || allowedGroups.length > 0;
  const needed = [
    "email",
    ...(settings.trustEmail ? [] : ["email_verified"]),
    ...(usesGroups && !isElsewhere(claims) ? [groupsClaim] : []),
    ...(externalIdClaim === undefined ? [] : [externalIdClaim]),
    ...requiredClaims.keys(),
  ];
  return needed.every((name) => Object.hasOwn(claims, firstName(claims, name)));
}

/** @param userinfo whose `sub` was compared */
export const completedClaims = (claims: IdTokenClaims, userinfo: Userinfo): VerifiedClaims => ({
  ...Object.fromEntries(Object.entries(userinfo).filter(([name]) => !OF_TOKEN_ONLY.has(name))),
  ...claims,
  ...addressOf(claims, userinfo),
});

/** The address and its verification come from the same source; otherwise userinfo could verify an address that it does not have. */
function addressOf({ email, email_verified }: IdTokenClaims, userinfo: Userinfo): Userinfo {
  if (email === undefined) return { email: userinfo.email, email_verified: userinfo.email_verified };
  const isSame = email_verified === undefined && userinfo.email === email;
  return { email, email_verified: isSame ? userinfo.email_verified : email_verified };
}

/** A dotted path leads into a nested claim, unless a claim has exactly that name. */
const firstName = (claims: IdTokenClaims, path: string): string =>
  Object.hasOwn(claims, path) ? path : (path.split(".")[0] ?? path);

/** If there are too many groups for the token (Entra), userinfo lacks them too. */
const isElsewhere = (claims: IdTokenClaims): boolean =>
  claims.hasgroups !== undefined || isJsonObject(claims._claim_names);
