// Finds a user's account at the gateway by address, and our keys in it by name or by the metadata that we stored with them.
import type { JsonObject } from "../../../../platform/json/json-object.ts";
import { ALIAS_PREFIX } from "../../wire.ts";
import { ProvisionerError } from "../provisioner.ts";
import type { LitellmApi } from "./litellm-api.ts";
import type { ListedKey } from "./litellm-responses.ts";

export const LITELLM_PROVISIONER = "builtin-litellm";
/** Highest number in a key's name: the names are the plain one, then `-2` up to this. */
export const ALIASES_MAX = 100;
const MANAGED_BY = "quartermaster";

export interface Account {
  userId: string;
  teamIds: readonly string[];
}

/** @returns the address in the form in which it is compared and stored */
export const foldEmail = (email: string): string => email.trim().normalize("NFC").toLowerCase();

/** @returns the accounts with exactly this address; the search may also find others, and may list an account on two pages */
export async function findAccounts(api: LitellmApi, email: string): Promise<Account[]> {
  const found = new Map<string, Account>();
  for (const { user_id: userId, user_email, teams } of await api.users(email)) {
    if (foldEmail(user_email ?? "") !== email) continue;
    const ids = (teams ?? []).map((team) => (typeof team === "string" ? team : (team.team_id ?? team.id)));
    found.set(userId, { userId, teamIds: ids.filter((id) => id != null) });
  }
  return [...found.values()];
}

/** @throws ProvisionerError `account_missing`, `conflict` */
export function onlyAccount(accounts: readonly Account[]): Account {
  const [account, ...others] = accounts;
  if (!account) throw new ProvisionerError("account_missing", "no account has the user's address");
  if (others.length === 0) return account;
  throw new ProvisionerError("conflict", `${accounts.length} accounts have the user's address`);
}

/** @throws ProvisionerError `conflict` unless the account is in exactly one team */
export function onlyTeam({ teamIds }: Account): string {
  const [team, ...others] = teamIds;
  if (team !== undefined && others.length === 0) return team;
  throw new ProvisionerError(
    "conflict",
    `the account is in ${teamIds.length} teams, and a key needs exactly one`,
  );
}

/** The metadata of each of our keys at the gateway. */
export const ownershipMetadata = (email: string): JsonObject => ({
  managed_by: MANAGED_BY,
  owner_email: email,
  provisioner: LITELLM_PROVISIONER,
});

/** @returns every name that a key of this user may have, the plain one first */
export function aliasesOf(email: string): string[] {
  const plain = `${ALIAS_PREFIX}:${email}`;
  return Array.from({ length: ALIASES_MAX }, (_, at) => (at === 0 ? plain : `${plain}-${at + 1}`));
}

/** @returns our keys, recognized by name or by metadata */
export function selectOwnKeys(listed: readonly ListedKey[], email: string): ListedKey[] {
  const aliases = new Set(aliasesOf(email));
  return listed.filter(
    ({ key_alias: alias, metadata }) =>
      aliases.has(alias ?? "") || (metadata?.managed_by === MANAGED_BY && metadata.owner_email === email),
  );
}
