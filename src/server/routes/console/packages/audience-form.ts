// Handles the form of an audience, both for a package of the draft and for a package that is being added.
import type { Domain } from "../../../../domain/domain.ts";
import type { PackageAudience } from "../../../../domain/governance/model.ts";
import type { User } from "../../../../domain/identity/service.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import { quoted } from "../../../../platform/text/problem-list.ts";
import type { Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { found, numberIn } from "../../../console/list/list.ts";
import { withoutReturns } from "../../../console/long-form.ts";
import { type AudiencePageProps, audiencePage } from "../../../console/packages/audience-page.tsx";
import {
  type AudienceFields,
  dropName,
  type PasteOutcome,
  PEOPLE_SHOWN_MAX,
} from "../../../console/packages/audience-parts.tsx";
import type { Reader } from "../../../console/reader.ts";
import { isDraftChanged } from "../policy/draft-discard-pages.ts";

/** Maximum number of pasted addresses. */
export const PASTED_ADDRESSES_MAX = 20_000;
/** Number of groups that a search proposes. */
export const GROUPS_PROPOSED_MAX = 10;

/** Where an audience is kept. */
export interface AudiencePlace
  extends Pick<
    AudiencePageProps,
    "title" | "breadcrumbs" | "action" | "verb" | "cancel" | "version" | "audience" | "api"
  > {
  /** Saves it in the draft of the reader. @returns the next text of the field `version` */
  save(audience: Required<PackageAudience>): Promise<string>;
  /** path after a complete form */
  next: Done;
}

export function createAudienceForms(domain: Domain) {
  const { identity, scim } = domain;
  const { users } = identity;

  const pageOf = audiencePageFor(domain);

  const find = async (reader: Reader, place: AudiencePlace, fields: AudienceFields): Promise<ConsolePage> => {
    const search = users.searchOptions(reader.organizationId, { q: fields.person || undefined });
    const { rows, problems } = await found(() => runInTurns(search));
    const named = problems?.map((problem) => ({ ...problem, pointer: "/person" }));
    const matches = rows?.map(({ email }) => email);
    const exact = matches?.find((email) => email.toLowerCase() === fields.person.trim().toLowerCase());
    if (exact !== undefined) return pageOf(reader, place, { fields: withAddress(fields, exact) });
    return pageOf(reader, place, { fields, matches, ...(named && { problems: named }) });
  };

  const findGroup = async (reader: Reader, place: AudiencePlace, fields: AudienceFields) => {
    const wanted = { q: fields.group || undefined, perPage: GROUPS_PROPOSED_MAX };
    const { rows, problems } = await found(() => scim.directory.list(reader.organizationId, wanted));
    return pageOf(reader, place, { fields, groupMatches: rows?.items, ...(problems && { problems }) });
  };

  const save = savingForm(domain, pageOf);

  return {
    show: (reader: Reader, place: AudiencePlace): ConsolePage => pageOf(reader, place),

    async act(reader: Reader, now: AudiencePlace, sent: Fields): Promise<ConsolePage | Done> {
      // Every response that saves nothing contains the version read last, so that an outdated save is refused.
      const place = { ...now, version: sent.version ?? now.version };
      const fields = fieldsIn(sent, place.audience);
      if (sent.add !== undefined) return pageOf(reader, place, { fields: withAddress(fields, sent.add) });
      const isForGroup = fields.person === "" && fields.group !== ""; // the Enter key presses the first button
      if (sent.act === "find-group" || (sent.act === "find" && isForGroup))
        return await findGroup(reader, place, fields);
      if (sent.act === "find") return await find(reader, place, fields);
      const group = sent["add-group"];
      if (group !== undefined) {
        const saved = await save(reader, { ...place, now }, { ...fields, scope: "users", group });
        const stays = { to: place.action, notice: "The group is added. Nothing is published yet." };
        return "to" in saved ? stays : saved;
      }
      return await save(reader, { ...place, now }, fields);
    },
  };
}

type PageOf = (reader: Reader, place: AudiencePlace, more?: Partial<AudiencePageProps>) => ConsolePage;

/** @returns a function that renders the form, with the requested page of people */
const audiencePageFor =
  ({ identity: { users }, scim }: Domain): PageOf =>
  (reader, place, more = {}) => {
    const { organizationId, url } = reader;
    const { audience } = place;
    const last = Math.max(1, Math.ceil(audience.user_ids.length / PEOPLE_SHOWN_MAX));
    const page = Math.min(Math.max(numberIn(url.searchParams.get("page") ?? "1") || 1, 1), last);
    const shown = audience.user_ids.slice((page - 1) * PEOPLE_SHOWN_MAX, page * PEOPLE_SHOWN_MAX);
    return audiencePage({
      ...place,
      page,
      fields: fieldsOf(audience),
      people: shown.map((id) => ({ id, user: orUndefined(() => users.show(organizationId, id)) })),
      groups: (audience.group_ids ?? []).map((id) => ({
        id,
        group: orUndefined(() => scim.directory.show(organizationId, id)),
      })),
      hasGroups: scim.directory.list(organizationId, { perPage: 1 }).total > 0,
      ...more,
    });
  };

/**
 * @returns a function that saves the form. Known addresses are saved even if others are unknown; the unknown ones stay
 * in the field
 */
const savingForm =
  (domain: Domain, pageOf: PageOf) =>
  async (
    reader: Reader,
    { now, ...place }: AudiencePlace & { now: AudiencePlace },
    fields: AudienceFields,
  ): Promise<ConsolePage | Done> => {
    const addresses = addressesIn(`${fields.addresses}\n${fields.person}`);
    const problems: Problem[] = overlongProblems(addresses, fields);
    const groups = problems.length === 0 ? groupsIn(domain, reader, fields, problems) : [];
    if (problems.length > 0) return pageOf(reader, place, { fields, problems });
    const rows = await runInTurns(domain.identity.users.withAddresses(reader.organizationId, addresses));
    const read = resolveAddresses(addresses, rows, place.audience);
    const audience = nextAudience(place.audience, { fields, users: read.users, groups });
    const isNothing =
      audience.scope === "users" && audience.user_ids.length + audience.group_ids.length === 0;
    if (isNothing && read.left.length > 0) return pageOf(reader, place, { fields, outcome: read.outcome });
    try {
      const version = await place.save(audience);
      if (read.left.length === 0) return place.next;
      const rest = { ...fieldsOf(audience), addresses: read.left.join("\n") };
      return pageOf(reader, { ...place, audience, version }, { fields: rest, outcome: read.outcome });
    } catch (error) {
      if (isDraftChanged(error)) return pageOf(reader, now, { fields, isStale: true });
      return pageOf(reader, now, { fields, ...refusalOf(error) });
    }
  };

/** Erased people and removed groups stay in an audience until an administrator takes them out. */
function orUndefined<T>(show: () => T): T | undefined {
  try {
    return show();
  } catch (error) {
    if (error instanceof DomainError && error.kind === "not_found") return undefined;
    throw error;
  }
}

/** The author decides for the people below. */
const withAddress = (fields: AudienceFields, address: string): AudienceFields => ({
  ...fields,
  scope: "users",
  person: "",
  addresses: `${fields.addresses.trimEnd()}\n${address}`.trimStart(),
});

const fieldsOf = ({ scope }: Pick<PackageAudience, "scope">): AudienceFields => ({
  scope,
  addresses: "",
  person: "",
  group: "",
  dropped: new Set(),
});

function fieldsIn(
  sent: Fields,
  { user_ids: users, group_ids: groups = [] }: PackageAudience,
): AudienceFields {
  const isDropped = (id: string) => sent[dropName(id)] !== undefined;
  return {
    scope: sent.scope === "users" ? "users" : "organization",
    addresses: withoutReturns(sent.addresses ?? ""),
    person: sent.person ?? "",
    group: sent.group ?? "",
    dropped: new Set([...users, ...groups].filter(isDropped)),
  };
}

/** @returns addresses separated by spaces, commas, semicolons or line ends, with or without angle brackets; duplicates in any letter case are dropped */
function addressesIn(text: string): string[] {
  const words = text.split(/[\s,;]+/).map((word) => word.replace(/^<(.*)>$/, "$1"));
  return [...new Map(words.filter(Boolean).map((word) => [word.toLowerCase(), word])).values()];
}

function overlongProblems(addresses: readonly string[], { scope, group }: AudienceFields): Problem[] {
  const problems: Problem[] = [];
  if (addresses.length > PASTED_ADDRESSES_MAX) {
    const detail = `you pasted ${addresses.length} addresses; paste at most ${PASTED_ADDRESSES_MAX} at a time`;
    problems.push({ pointer: "/addresses", detail });
  }
  if (scope === "organization" && (addresses.length > 0 || group !== ""))
    problems.push({
      pointer: "/scope",
      detail: "choose “Only these people and groups”, or remove what you entered below",
    });
  return problems;
}

/** @returns the id of the named group, in a list */
function groupsIn(
  { scim }: Domain,
  { organizationId }: Reader,
  { group }: AudienceFields,
  problems: Problem[],
): string[] {
  if (group.trim() === "") return [];
  const named = orUndefined(() => scim.directory.show(organizationId, group));
  if (named) return [named.id];
  problems.push({ pointer: "/group", detail: `no group is called ${quoted(group)}` });
  return [];
}

interface ResolvedAddresses {
  /** ids to add */
  users: string[];
  /** addresses that stay in the field */
  left: string[];
  outcome: PasteOutcome;
}

/** A suspended person who is already in the audience may stay. */
function resolveAddresses(
  addresses: readonly string[],
  rows: readonly (User | undefined)[],
  { user_ids: former }: PackageAudience,
): ResolvedAddresses {
  const known = new Set(former);
  const outcome = { added: 0, unknown: 0, inactive: [] as User[] };
  const users: string[] = [];
  const left: string[] = [];
  for (const [at, address] of addresses.entries()) {
    const user = rows[at];
    if (user && known.has(user.id)) continue;
    if (user?.status === "active") users.push(user.id);
    else left.push(address);
    if (user && user.status !== "active") outcome.inactive.push(user);
    if (!user) outcome.unknown += 1;
  }
  return { users, left, outcome: { ...outcome, added: users.length } };
}

function nextAudience(
  { user_ids: users, group_ids: groups = [] }: PackageAudience,
  { fields: { scope, dropped }, ...added }: { fields: AudienceFields; users: string[]; groups: string[] },
): Required<PackageAudience> {
  if (scope === "organization") return { scope, user_ids: [], group_ids: [] };
  const kept = (ids: readonly string[], more: readonly string[]) => [
    ...new Set([...ids.filter((id) => !dropped.has(id)), ...more]),
  ];
  return { scope, user_ids: kept(users, added.users), group_ids: kept(groups, added.groups) };
}

/** @returns the problems from the domain with the names of the form's fields, and the status of the response */
function refusalOf(error: unknown): Pick<AudiencePageProps, "problems" | "status"> {
  if (!(error instanceof DomainError) || !["invalid", "conflict"].includes(error.kind)) throw error;
  const { kind, message, hint, problems } = error;
  const fieldOf = ({ pointer }: Problem) => pointer.split("/").slice(3).join("/");
  const whole = { pointer: "", detail: hint === undefined ? message : `${message}: ${hint}` };
  return {
    problems: problems.length === 0 ? [whole] : problems.map((one) => ({ ...one, pointer: fieldOf(one) })),
    status: kind === "conflict" ? 409 : 400,
  };
}
