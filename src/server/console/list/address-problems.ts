// Finds values and parameters in the address of a list that the list does not have. Ignoring them would look like a result.
import { addressProblems } from "../../../domain/console/service.ts";
import type { Problem } from "../../../platform/errors.ts";

/**
 * @param found problems that the page has found
 * @returns them, and those of other parameters; none if the address is not a list's
 */
export const allProblems = ({ pathname, searchParams }: URL, found: readonly Problem[] = []): Problem[] => [
  ...found,
  ...addressProblems(pathname, searchParams).filter(({ pointer }) =>
    found.every((problem) => nameOf(problem) !== pointer),
  ),
];

/** The domain calls the number of rows of some lists `limit`. */
const nameOf = ({ pointer }: Problem): string => (pointer === "/limit" ? "/per_page" : pointer);

/** @returns whether the page is a list that shows a problem instead of its rows */
export const hasProblems = (url: URL): boolean => allProblems(url).length > 0;

/**
 * A file of a list has the parameters of its list; a mistyped filter would export every row.
 * @returns the address of the list, which shows the problems; undefined without a problem, and for pages
 */
export function listOfRefusedFile({ pathname, search, searchParams }: URL): string | undefined {
  if (!pathname.endsWith(".csv")) return undefined;
  const list = pathname.slice(0, -".csv".length);
  return addressProblems(list, searchParams).length > 0 ? list + search : undefined;
}
