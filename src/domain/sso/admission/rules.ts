// The operator's rules that need only the claims: who may sign in, with which role and address. Pure functions.
import type { DomainError } from "../../../platform/errors.ts";
import { emailKey, type Role, readEmail } from "../../identity/service.ts";
import { acrTooWeak, emailUnverified, groupsUnknown, notAllowed } from "../errors.ts";
import type { Person } from "../model.ts";
import type { SsoSettings } from "../settings.ts";

/** An address that the provider has verified, or the reason why there is none. */
export type Address = { verified: string } | { missing: true } | { unverified: true };

/**
 * An address that the provider reports as unverified stays unverified under all settings. Folds only letter case, because a
 * provider can give `kate@` with the Kelvin sign (U+212A), or with a leading space, to another person.
 * @returns the folded address
 */
export function addressOf(
  { email, emailVerified }: Pick<Person, "email" | "emailVerified">,
  { trustEmail }: Pick<SsoSettings, "trustEmail">,
): Address {
  if (email === undefined) return { missing: true };
  const isVerified = emailVerified === "absent" ? trustEmail : emailVerified;
  const problems: Parameters<typeof readEmail>[1] = [];
  const verified = readEmail(email, problems);
  if (problems.length > 0 || email !== email.trim().normalize("NFC")) return { missing: true };
  return isVerified ? { verified } : { unverified: true };
}

/**
 * All configured rules must hold at every sign-in.
 * @returns the first refusal; undefined if the person may sign in
 */
export function refusalOf(person: Person, settings: SsoSettings): DomainError | undefined {
  const { allowedGroups, allowedDomains, requireAcr } = settings;
  if (person.missingClaims.length > 0) return notAllowed();
  if (requireAcr.length > 0 && !requireAcr.includes(person.acr ?? "")) return acrTooWeak();
  if (allowedDomains.length > 0 && !isFromDomain(person, settings))
    return "unverified" in addressOf(person, settings) ? emailUnverified() : notAllowed();
  if (allowedGroups.length === 0) return undefined;
  if ("unknown" in person.groups) return groupsUnknown(person.groups.unknown);
  const { known } = person.groups;
  return allowedGroups.some((group) => known.includes(group)) ? undefined : notAllowed();
}

/** @returns whether the domain of the verified address is allowed */
export function isFromDomain(
  person: Person,
  settings: Pick<SsoSettings, "allowedDomains" | "trustEmail">,
): boolean {
  const address = addressOf(person, settings);
  if (!("verified" in address)) return false;
  const domain = address.verified.slice(address.verified.lastIndexOf("@") + 1);
  return settings.allowedDomains.some((allowed) => emailKey(allowed) === domain);
}

/** The role from the provider's groups; `unknown` if the groups are not known; `unmapped` if no groups are mapped to roles. */
export type MappedRole = Role | "unknown" | "unmapped";

/** @returns the role; `admin` wins, and a known list without a mapped group gives `member` */
export function roleOf(
  { groups }: Pick<Person, "groups">,
  { groupRoleMappings }: Pick<SsoSettings, "groupRoleMappings">,
): MappedRole {
  if (groupRoleMappings.size === 0) return "unmapped";
  if ("unknown" in groups) return "unknown";
  return groups.known.some((group) => groupRoleMappings.get(group) === "admin") ? "admin" : "member";
}
