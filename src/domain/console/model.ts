// Views and list settings that users save in the console: types, limits and checks.
import type { Problem } from "../../platform/errors.ts";
import { addressProblems } from "./list-parameters.ts";
import { findConsoleList, storedPath } from "./lists.ts";

/** Maximum number of one user's saved views. */
export const VIEWS_MAX = 50;
/** Maximum number of lists for which one user saves columns and rows. */
export const LISTS_MAX = 50;
/** Maximum characters of a view's name. */
export const NAME_LENGTH_MAX = 100;
/** Maximum characters of the query of a view or list. */
export const QUERY_LENGTH_MAX = 2_000;
/** Maximum number of parameters in the query of a view or list; reading one takes about a microsecond. */
export const QUERY_PARAMETERS_MAX = 100;

/** A list of the console: its path and its query without `?`. */
export interface ListAddress {
  path: string;
  query: string;
}

/** A named list. */
export interface ViewRequest extends ListAddress {
  name: string;
  /** shown to all administrators */
  isShared: boolean;
}

export interface SavedView extends ViewRequest {
  id: string;
  ownerId: string;
}

/** Everything that one user has saved. */
export interface ConsolePreferences {
  views: readonly SavedView[];
  lists: readonly ListAddress[];
}

/** Parameters that a view does not save: the position in a list and the selection of rows. */
const PLACES = ["page", "cursor", "known", "select"];
/** Parameters that a user can save for every visit of a list. */
const USUAL = ["columns", "per_page"];

/** Invisible characters: spaces, controls, joiners, fillers, and the empty Braille pattern. */
const UNSEEN = /[\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Who saves something, and the pointer prefix of its problems, such as `/views/3`. */
export interface ReadOptions {
  prefix: string;
  problems: Problem[];
  /** may open the lists of administrators */
  readsAll: boolean;
}

/** @returns the view as it is stored */
export function readView(view: ViewRequest, options: ReadOptions): ViewRequest {
  const name = view.name.trim();
  const length = [...name].length;
  const pointer = `${options.prefix}/name`;
  if (length === 0 || length > NAME_LENGTH_MAX)
    options.problems.push({ pointer, detail: `the name must have 1 to ${NAME_LENGTH_MAX} characters` });
  else if (name.replace(UNSEEN, "") === "")
    options.problems.push({ pointer, detail: "the name must have a visible character" });
  return { ...view, ...readAddress(view, { ...options, left: isPlace }), name };
}

const isPlace = (parameter: string): boolean => PLACES.includes(parameter);

/** @returns the query of a list's URL as a view stores it, without the position in the list */
export const viewQuery = (query: string): string => without(query, isPlace);

/** @returns the list's columns and rows as they are stored; filters are left out */
export function readUsual(list: ListAddress, options: ReadOptions): ListAddress {
  // Without columns and rows the query would remove the saved ones, which is the meaning of an empty query.
  if (withoutEmpty(list.query) !== "" && !USUAL.some((name) => new URLSearchParams(list.query).has(name)))
    options.problems.push({
      pointer: `${options.prefix}/query`,
      detail: "the query must have columns or per_page, or be empty to restore the defaults",
    });
  const { path, query } = readAddress(list, { ...options, left: isUnusual });
  return { path, query: withoutEmpty(query) };
}

const isUnusual = (parameter: string): boolean => !USUAL.includes(parameter);

/** @returns the columns and rows in the query of a list's URL */
export const usualQuery = (query: string): string => without(query, isUnusual);

/** @returns the stored columns and rows that the list can use; an earlier version also stored others */
export function usableUsual({ path, query }: ListAddress): string {
  if (findConsoleList(path) === undefined) return "";
  const usable = [...new URLSearchParams(query)].filter(
    (parameter) => addressProblems(path, new URLSearchParams([parameter])).length === 0,
  );
  return withoutEmpty(new URLSearchParams(usable).toString());
}

interface AddressOptions extends ReadOptions {
  /** parameters that are not saved */
  left(parameter: string): boolean;
}

function readAddress({ path, query }: ListAddress, options: AddressOptions): ListAddress {
  const { prefix, problems, readsAll, left } = options;
  const list = findConsoleList(path);
  const report = (name: string, detail: string) => problems.push({ pointer: `${prefix}/${name}`, detail });
  if (!list) report("path", "the path must be that of a list, such as /console/users");
  else if (list.readers === "administrators" && !readsAll)
    report("path", "only administrators open this list; choose one of your own, such as /console/me/logins");
  if (query.split("&").length > QUERY_PARAMETERS_MAX) {
    report("query", `the query may have at most ${QUERY_PARAMETERS_MAX} parameters`);
    return { path, query };
  }
  const kept = without(query, left);
  if (kept.length > QUERY_LENGTH_MAX)
    report("query", `the query may have at most ${QUERY_LENGTH_MAX} characters`);
  for (const { detail } of addressProblems(path, new URLSearchParams(kept))) report("query", detail);
  return { path: storedPath(path), query: kept };
}

const without = (query: string, left: (parameter: string) => boolean): string =>
  new URLSearchParams([...new URLSearchParams(query)].filter(([parameter]) => !left(parameter))).toString();

const withoutEmpty = (query: string): string =>
  new URLSearchParams([...new URLSearchParams(query)].filter(([, value]) => value.trim() !== "")).toString();
