// Finds the workstations that may contain a text, so that a search need not read every report. The candidates come from the
// index of host names and instance ids, and from users whose address contains the text.
import type { Db } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { Identity } from "../../identity/service.ts";
import { searchParts } from "../../shared/text-search/trigram-store.ts";
import { SEARCH_CANDIDATES_MAX } from "../limits.ts";
import { recordsOf, recordsWith } from "./search-store.ts";

/** Workstations that may contain the text; if `isWhole`, no other workstation does. */
export interface Candidates {
  ids: readonly string[];
  isWhole: boolean;
}

/** Number of users whose workstations one step reads. */
const USERS_AT_ONCE = 500;

/** @returns at most SEARCH_CANDIDATES_MAX candidates; undefined for a text that is too short for the index */
export function* candidatesOf(
  { db: { read }, identity }: { db: Db; identity: Pick<Identity, "users"> },
  organizationId: string,
  text: string,
): Steps<Candidates | undefined> {
  const parts = searchParts(text);
  if (parts.length === 0) return undefined;
  const limit = SEARCH_CANDIDATES_MAX + 1;
  const found = new Set(yield* recordsWith(read, parts, SEARCH_CANDIDATES_MAX));
  if (found.size === limit) return { ids: [...found].slice(0, SEARCH_CANDIDATES_MAX), isWhole: false };
  const owners = yield* identity.users.idsWithAddressLike(organizationId, { q: text, limit });
  for (let at = 0; at < owners.length && found.size < limit; at += USERS_AT_ONCE) {
    yield;
    for (const id of recordsOf(read, owners.slice(at, at + USERS_AT_ONCE), limit)) found.add(id);
  }
  // The omitted users may have workstations too.
  const isWhole = found.size < limit && owners.length < limit;
  return { ids: [...found].slice(0, SEARCH_CANDIDATES_MAX), isWhole };
}
