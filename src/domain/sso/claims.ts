// Reads a person from the claims of a verified ID token (OpenID Connect Core section 5.1). Unused claims are dropped.
import { isJsonObject } from "../../platform/json/json-object.ts";
import { claimsInvalid } from "./errors.ts";
import { claimTextProblem, GROUPS_MAX, type Groups, type Person, type VerifiedClaims } from "./model.ts";
import type { SsoSettings } from "./settings.ts";

const SECOND_MS = 1000;

type ReadSettings = Pick<SsoSettings, "externalIdClaim" | "groupsClaim" | "requiredClaims">;

/**
 * @param claims of a verified token; `iss` and `sub` are texts
 * @returns the person
 * @throws DomainError `sso.claims_invalid` for a text that is too long, has control characters or is not valid Unicode
 */
export function readPerson(claims: VerifiedClaims, settings: ReadSettings): Person {
  const subject = textOf(claims, "sub");
  const issuer = textOf(claims, "iss");
  if (subject === undefined || issuer === undefined) throw claimsInvalid("sub or iss is missing");
  const { externalIdClaim, groupsClaim, requiredClaims } = settings;
  return {
    issuer,
    subject,
    email: textOf(claims, "email"),
    emailVerified: readVerified(claims.email_verified),
    name: textOf(claims, "name"),
    groups: readGroups(claims, groupsClaim),
    externalId: externalIdClaim === undefined ? undefined : textOf(claims, externalIdClaim),
    missingClaims: [...requiredClaims]
      .filter(([name, value]) => scalarText(valueAt(claims, name)) !== value)
      .map(([name]) => name),
    providerSessionId: textOf(claims, "sid"),
    authTimeMs: typeof claims.auth_time === "number" ? claims.auth_time * SECOND_MS : undefined,
    acr: textOf(claims, "acr"),
  };
}

/** Some providers send the text `"true"`. Every other value means false. */
function readVerified(value: unknown): Person["emailVerified"] {
  if (value === undefined || value === null) return "absent";
  return value === true || value === "true";
}

/**
 * A list that the provider shortened or omitted is unknown, not empty.
 * @source Microsoft identity platform, "Groups overage claim": `hasgroups`, `_claim_names.groups`
 */
function readGroups(claims: VerifiedClaims, path: string): Groups {
  const value = valueAt(claims, path);
  const elsewhere = isJsonObject(claims._claim_names) && Object.hasOwn(claims._claim_names, path);
  if (elsewhere || claims.hasgroups === true || claims.hasgroups === "true") return { unknown: "overage" };
  if (value === undefined || value === null) return { unknown: "absent" };
  if (!Array.isArray(value)) return { unknown: "malformed" };
  if (value.length > GROUPS_MAX) return { unknown: "too_many" };
  const known = value.filter((group) => typeof group === "string");
  return known.length === value.length ? { known } : { unknown: "malformed" };
}

/** @returns the claim with this name, or else the nested claim at this dotted path */
function valueAt(claims: VerifiedClaims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path
    .split(".")
    .reduce<unknown>(
      (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      claims,
    );
}

function textOf(claims: VerifiedClaims, path: string): string | undefined {
  const value = valueAt(claims, path);
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") throw claimsInvalid(`${path} is not a text`);
  const problem = claimTextProblem(value);
  if (problem !== undefined) throw claimsInvalid(`${path} ${problem}`);
  return value;
}

const scalarText = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
