// Converts the address of a list of workstations to a query of the domain.
import type { ClientQuery } from "../../../domain/clients/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import { isHarnessKey } from "../../../domain/harnesses/harnesses.ts";
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import { dayRangeIn, sameRange } from "../../console/list/days.ts";
import { numberIn, placeIn, type Values } from "../../console/list/list.ts";
import type { Reader } from "../../console/reader.ts";

/** Users that an error message suggests. */
const PROPOSED = 5;

export interface FleetQuery {
  query: ClientQuery;
  problems: Problem[];
}

/** Reads the filters of a list's address. @returns the query without order and page */
export async function fleetFilter(
  domain: Domain,
  values: Values,
  { organizationId, zone }: Reader,
): Promise<FleetQuery> {
  const problems: Problem[] = [];
  await refuseUnknownHarness(domain, { organizationId, text: values.harness, problems });
  const { q, health, stale, harness, platform, client_version: clientVersion } = values;
  const { last_seen_from: from, last_seen_to: to } = values;
  const { fromMs, beforeMs } = dayRangeIn({ from, to, name: "last_seen", zone, problems });
  const query = {
    q,
    health,
    stale,
    harness,
    platform,
    clientVersion,
    userId: await userIdOf(domain, { organizationId, text: values.user, problems }),
    revision: revisionIdOf(domain, { organizationId, text: values.revision, problems }),
    seenFromMs: fromMs,
    seenBeforeMs: beforeMs,
    notSeenForDays: numberIn(values.not_seen_for_days),
  };
  return { query, problems };
}

/** @returns order and position from a list's address */
export const fleetPlace = (values: Values): ClientQuery => ({
  ...placeIn(values),
  sort: values.sort && sortOf(values.sort),
  cursor: values.cursor,
});

/** The address has `-host`, the domain `host_desc`. */
const sortOf = (sort: string): string => (sort.startsWith("-") ? `${sort.slice(1)}_desc` : `${sort}_asc`);

/**
 * @param query of `fleetFilter`
 * @param values of the address, for its days
 * @returns the query in the format of the API
 */
export const apiQuery = (
  query: ClientQuery,
  values: Values,
  { zone }: Pick<Reader, "zone">,
): Record<string, string> => {
  const { last_seen_from, last_seen_to, sort } = values;
  const days = sameRange({ from: last_seen_from, to: last_seen_to }, zone);
  const { q, userId, harness, health, revision, clientVersion, platform, stale, notSeenForDays } = query;
  const named = {
    q,
    user_id: userId,
    harness,
    health,
    revision,
    client_version: clientVersion,
    platform,
    last_seen_from: days.from,
    last_seen_to: days.to,
    stale,
    not_seen_for_days: notSeenForDays?.toString(),
    sort: sort && sortOf(sort),
  };
  return Object.fromEntries(
    Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
};

interface Named {
  organizationId: string;
  text: string | undefined;
  problems: Problem[];
  /** of the filter; `user` if omitted */
  name?: string;
}

/** @returns the id of the user that a filter names by address or id; undefined without a text, or with a problem */
export async function userIdOf(
  { identity }: Domain,
  { organizationId, text, problems, name = "user" }: Named,
): Promise<string | undefined> {
  if (text === undefined) return undefined;
  try {
    return identity.users.find(organizationId, text).id;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
  const isSearchable = text.length <= SEARCH_LENGTH_MAX && !text.includes("\0");
  const wanted = { q: isSearchable ? text : undefined, of: "", limit: PROPOSED };
  const others = isSearchable ? await runInTurns(identity.users.colleagues(organizationId, wanted)) : [];
  const proposal = others.length > 0 ? `; did you mean ${others.map(({ email }) => email).join(", ")}` : "";
  problems.push({
    pointer: `/${name}`,
    detail: `no user has the address or id ${quoted(text)}${proposal}${proposal && "?"}`,
  });
  return undefined;
}

/** Workstations may report harnesses that this release does not know. They are loaded only for an unknown name. */
async function refuseUnknownHarness(
  { clients }: Domain,
  { organizationId, text, problems }: Named,
): Promise<void> {
  if (text === undefined || isHarnessKey(text)) return;
  const { harnesses } = await runInTurns(clients.inventory.facets(organizationId, {}));
  if (harnesses.includes(text)) return;
  problems.push({
    pointer: "/harness",
    detail: `no workstation has reported the harness ${quoted(text)}`,
  });
}

/** @returns the id of the revision that a filter names; undefined without a text, or with a problem */
function revisionIdOf({ governance }: Domain, { organizationId, text, problems }: Named): string | undefined {
  if (text === undefined) return undefined;
  try {
    return governance.revisions.reportedId(organizationId, text);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const name = /^r?\d{1,15}$/.test(text) ? text.replace(/^r?/, "r") : quoted(text);
    problems.push({ pointer: "/revision", detail: `there is no revision ${name}` });
    return undefined;
  }
}
