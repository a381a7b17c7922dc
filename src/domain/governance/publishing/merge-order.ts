// The order of a list that two authors changed: packages, or MCP servers.
import { isDeepStrictEqual } from "node:util";

/** The names of the entries in three versions of a list. */
interface Orders {
  /** empty for an unknown one */
  before: Iterable<string>;
  current: Iterable<string>;
  wanted: Iterable<string>;
}

/** The names of both sides; a new entry of one side stays after the entry that it follows there. */
interface MergedOrder {
  /** in the order of the side that moved entries; if both did, of the current one */
  names: readonly string[];
  /** in the order of the other side, if both moved entries in different ways */
  otherwise: readonly string[] | undefined;
}

/** @returns the order of the merged list */
export function mergedOrder(orders: Orders): MergedOrder {
  const before = [...orders.before];
  const current = [...orders.current];
  const wanted = [...orders.wanted];
  const ours = withNew(current, wanted);
  if (isDeepStrictEqual(commonNames(current, wanted), commonNames(wanted, current)))
    return { names: ours, otherwise: undefined };
  const hasMoved = (names: readonly string[]): boolean =>
    !isDeepStrictEqual(commonNames(before, names), commonNames(names, before));
  const theirs = withNew(wanted, current);
  if (hasMoved(current) === hasMoved(wanted)) return { names: ours, otherwise: theirs };
  return { names: hasMoved(current) ? ours : theirs, otherwise: undefined };
}

/** @returns the names that the other list also has, in their order */
export function commonNames(names: readonly string[], other: readonly string[]): string[] {
  const known = new Set(other);
  return names.filter((name) => known.has(name));
}

/** @returns the names, followed by those that only the other list has */
function withNew(names: readonly string[], others: readonly string[]): string[] {
  const known = new Set(names);
  const joined = [...names];
  for (const [at, name] of others.entries())
    if (!known.has(name)) joined.splice(joined.indexOf(others[at - 1] ?? "") + 1, 0, name);
  return joined;
}
