// Finds columns in the address of a list that the list does not have.
import { choiceProblems, findConsoleList } from "../../../domain/console/service.ts";
import type { Problem } from "../../../platform/errors.ts";

/** @returns the problem of the parameter `columns`; nothing if the address is not a list */
export const columnProblems = ({ pathname, searchParams }: URL): Problem[] =>
  choiceProblems(
    new URLSearchParams(searchParams.getAll("columns").map((value) => ["columns", value])),
    findConsoleList(pathname)?.columns,
  ).map((detail) => ({ pointer: "/columns", detail }));

/** @returns whether the page is a list that shows a problem instead of its rows */
export const hasUnknownColumns = (url: URL): boolean => columnProblems(url).length > 0;
