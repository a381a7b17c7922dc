// Replaces the ids of people and groups in listed changes with their names.
import type { Domain } from "../../../../domain/domain.ts";
import type {
  AudienceIds,
  ChangeList,
  ListedChange,
  Undecided,
} from "../../../../domain/governance/service.ts";
import { tokensOf } from "../../../../platform/errors.ts";
import { numberText } from "../../../console/parts/texts.ts";
import type { Reader } from "../../../console/reader.ts";

/** Number of people and groups that one page names; the others are counted. */
export const AUDIENCE_NAMES_MAX = 100;

type Names = Pick<Domain, "identity" | "scim">;
type NameOf = (id: string) => string | undefined;
type Viewer = Pick<Reader, "organizationId" | "language">;

/** @returns the changes with addresses and group names as texts, and the number of further ones */
export function withNames(names: Names, viewer: Viewer, changes: ChangeList): ChangeList {
  const { people, groups } = createTexts(names, viewer);
  const named = (change: ListedChange): ListedChange => {
    const { path, ids: { before, after } = {} } = change;
    const textOf = path.endsWith("/user_ids") ? people : groups;
    return {
      ...(isScope(path) ? withScopeWords(change) : change),
      ...(before && { before: textOf(before) }),
      ...(after && { after: textOf(after) }),
    };
  };
  return { ...changes, listed: changes.listed.map(named) };
}

/** @returns the places of a merge, with the same texts for audiences */
export function withPlaceNames(names: Names, viewer: Viewer, undecided: Undecided): Undecided {
  const { people, groups } = createTexts(names, viewer);
  const listed = undecided.listed.map((place) => {
    const { audience } = place;
    if (!audience) return place;
    const texts = Object.entries(audience.people).map(([side, ids]) => {
      const some = audience.groups[side];
      const parts = [
        ...(ids.count > 0 ? [people(ids)] : []),
        ...(some && some.count > 0 ? [groups(some)] : []),
      ];
      return [side, parts.join("; ") || SCOPE_WORDS.organization];
    });
    return { ...place, ...Object.fromEntries(texts) };
  });
  return { ...undecided, listed };
}

function createTexts({ identity: { users }, scim }: Names, { organizationId, language }: Viewer) {
  const known = new Map<string, string>();
  const remembered =
    (find: (id: string) => string): NameOf =>
    (id) => {
      if (!known.has(id) && known.size < AUDIENCE_NAMES_MAX) known.set(id, find(id));
      return known.get(id);
    };
  const person = remembered((id) => users.addressOf(organizationId, id) ?? "somebody who was erased");
  const group = remembered((id) => scim.directory.nameOf(organizationId, id) ?? "a group that is gone");
  return {
    people: (ids: AudienceIds) =>
      idsText(ids, { nameOf: person, one: "person", many: "people", none: "nobody", language }),
    groups: (ids: AudienceIds) =>
      idsText(ids, { nameOf: group, one: "group", many: "groups", none: "none", language }),
  };
}

interface Naming {
  nameOf: NameOf;
  one: string;
  many: string;
  none: string;
  language: string;
}

/** @returns `ana@example.com, ben@example.com and 4,948 more` */
function idsText({ first, count }: AudienceIds, { nameOf, one, many, none, language }: Naming): string {
  if (count === 0) return none;
  const names = first.map(nameOf).filter((name) => name !== undefined);
  const left = count - names.length;
  if (names.length === 0) return `${numberText(count, language)} ${count === 1 ? one : many}`;
  return names.join(", ") + (left > 0 ? ` and ${numberText(left, language)} more` : "");
}

const isScope = (path: string): boolean => {
  const [first, , member, ...rest] = tokensOf(path);
  return first === "package_audiences" && member === "scope" && rest.length === 0;
};

const SCOPE_WORDS: Readonly<Record<string, string>> = {
  organization: "everybody",
  users: "only these people and groups",
};

/** Without an audience, a package is for everybody. */
const scopeWord = (scope = "organization"): string => SCOPE_WORDS[scope] ?? scope;

const withScopeWords = (change: ListedChange): ListedChange => ({
  ...change,
  before: scopeWord(change.before),
  after: scopeWord(change.after),
});
