// Views and list settings that people save in the console: types, limits and checks.
import type { Problem } from "../../platform/errors.ts";

/** Saved views of one person. */
export const VIEWS_MAX = 50;
/** Lists for which one person keeps columns and rows. */
export const LISTS_MAX = 50;
/** Characters of a view's name. */
export const NAME_LENGTH_MAX = 100;
/** Characters of the query of a view or list. */
export const QUERY_LENGTH_MAX = 2_000;
/** Parameters of the query of a view or list; reading one takes about a microsecond. */
export const QUERY_PARAMETERS_MAX = 100;

/** A list of the console: its path and its query without `?`. */
export interface ListAddress {
  path: string;
  query: string;
}

/** A list under a name. */
export interface ViewRequest extends ListAddress {
  name: string;
  /** shown to all administrators */
  isShared: boolean;
}

export interface SavedView extends ViewRequest {
  id: string;
  ownerId: string;
}

/** Everything that one person has saved. */
export interface ConsolePreferences {
  views: readonly SavedView[];
  lists: readonly ListAddress[];
}

const PATH = /^\/console(?:\/[a-z0-9-]{1,64}){1,4}$/;
/** A position in a list and a selection of its rows are not part of a view. */
const PLACES = ["page", "cursor", "known", "select"];
/** Parameters that a person can save for every visit of a list. */
const USUAL = ["columns", "per_page"];

/** @returns the view as it is stored; the problems have the view's place as prefix, such as `/views/3` */
export function readView(view: ViewRequest, prefix: string, problems: Problem[]): ViewRequest {
  const name = view.name.trim();
  const length = [...name].length;
  if (length === 0 || length > NAME_LENGTH_MAX)
    problems.push({
      pointer: `${prefix}/name`,
      detail: `the name must have 1 to ${NAME_LENGTH_MAX} characters`,
    });
  return { ...view, ...readAddress(view, { prefix, problems, left: isPlace }), name };
}

const isPlace = (parameter: string): boolean => PLACES.includes(parameter);

/** @returns the query of a list's address as a view keeps it, without the place in the list */
export const viewQuery = (query: string): string => without(query, isPlace);

/** @returns columns and rows of the list as they are stored */
export const readUsual = (list: ListAddress, prefix: string, problems: Problem[]): ListAddress =>
  readAddress(list, { prefix, problems, left: isUnusual });

const isUnusual = (parameter: string): boolean => !USUAL.includes(parameter);

/** @returns the columns and rows in the query of a list's address */
export const usualQuery = (query: string): string => without(query, isUnusual);

interface AddressOptions {
  prefix: string;
  problems: Problem[];
  /** parameters that are not kept */
  left(parameter: string): boolean;
}

function readAddress({ path, query }: ListAddress, { prefix, problems, left }: AddressOptions): ListAddress {
  if (!PATH.test(path))
    problems.push({
      pointer: `${prefix}/path`,
      detail: "the path must be that of a list, such as /console/users",
    });
  if (query.split("&").length > QUERY_PARAMETERS_MAX) {
    problems.push({
      pointer: `${prefix}/query`,
      detail: `the query may have at most ${QUERY_PARAMETERS_MAX} parameters`,
    });
    return { path, query };
  }
  const kept = without(query, left);
  if (kept.length > QUERY_LENGTH_MAX)
    problems.push({
      pointer: `${prefix}/query`,
      detail: `the query may have at most ${QUERY_LENGTH_MAX} characters`,
    });
  return { path, query: kept };
}

const without = (query: string, left: (parameter: string) => boolean): string =>
  new URLSearchParams([...new URLSearchParams(query)].filter(([parameter]) => !left(parameter))).toString();
