// Names the people and groups of audiences in the changes that a page lists: policies have their ids.
import type { Domain } from "../../../../domain/domain.ts";
import type {
  AudienceIds,
  ChangeList,
  NamedSides,
  Undecided,
} from "../../../../domain/governance/service.ts";
import { tokensOf } from "../../../../platform/errors.ts";
import { numberText } from "../../../console/parts/texts.ts";
import type { Reader } from "../../../console/reader.ts";

/** People and groups that one page names; it counts the others. */
export const AUDIENCE_NAMES_MAX = 100;

type Names = Pick<Domain, "identity" | "scim">;
type NameOf = (id: string) => string | undefined;
type Viewer = Pick<Reader, "organizationId" | "language">;

/** @returns the changes with addresses and names of groups as texts, and a number for those that are not named */
export function withNames(names: Names, viewer: Viewer, changes: ChangeList): ChangeList {
  const named = createNamed(names, viewer, ["before", "after"]);
  return { ...changes, listed: changes.listed.map(named) };
}

/** @returns the places of a merge, in the same way */
export function withPlaceNames(names: Names, viewer: Viewer, undecided: Undecided): Undecided {
  const named = createNamed(names, viewer, ["base", "theirs", "mine"]);
  return { ...undecided, listed: undecided.listed.map(named) };
}

type Listed<Side extends string> = { path: string } & { [Name in Side]?: string } & NamedSides;

function createNamed<Side extends string>(
  { identity: { users }, scim }: Names,
  { organizationId, language }: Viewer,
  sides: readonly Side[],
) {
  const known = new Map<string, string>();
  const remembered =
    (find: (id: string) => string): NameOf =>
    (id) => {
      if (!known.has(id) && known.size < AUDIENCE_NAMES_MAX) known.set(id, find(id));
      return known.get(id);
    };
  const people = remembered((id) => users.addressOf(organizationId, id) ?? "somebody who was erased");
  const groups = remembered((id) => scim.directory.nameOf(organizationId, id) ?? "a group that is gone");
  const textOf = (path: string, ids: AudienceIds): string =>
    path.endsWith("/user_ids")
      ? idsText(ids, { nameOf: people, one: "person", many: "people", none: "nobody", language })
      : idsText(ids, { nameOf: groups, one: "group", many: "groups", none: "none", language });
  return <Item extends Listed<Side>>(item: Item): Item => {
    const { path, ids = {} } = item;
    const texts = sides.flatMap((side): [Side, string][] => {
      const listed = ids[side];
      if (listed) return [[side, textOf(path, listed)]];
      return isScope(path) ? [[side, scopeWord(item[side])]] : [];
    });
    return { ...item, ...Object.fromEntries(texts) };
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
