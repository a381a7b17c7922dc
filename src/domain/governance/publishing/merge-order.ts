// The order of a list that two authors changed: packages, or MCP servers.
import { isDeepStrictEqual } from "node:util";

/** The names of the entries in three versions of a list. */
interface Orders {
  before: Iterable<string>;
  current: Iterable<string>;
  wanted: Iterable<string>;
}

/**
 * @returns the names of both, in the order of the author who moved entries; a new entry of the other author stays behind the entry
 *   that it follows there. Undefined if both moved entries, in different ways.
 */
export function mergedOrder(orders: Orders): string[] | undefined {
  const [before, current, wanted] = [orders.before, orders.current, orders.wanted].map((names) => [...names]);
  if (!before || !current || !wanted) return undefined;
  const hasMoved = (names: readonly string[]): boolean =>
    !isDeepStrictEqual(among(before, names), among(names, before));
  if (!hasMoved(wanted)) return withNew(current, wanted);
  if (!hasMoved(current)) return withNew(wanted, current);
  const isSame = isDeepStrictEqual(among(current, wanted, before), among(wanted, current, before));
  return isSame ? withNew(current, wanted) : undefined;
}

/** @returns the names that all others have, in their order */
function among(names: readonly string[], ...others: readonly (readonly string[])[]): string[] {
  const sets = others.map((other) => new Set(other));
  return names.filter((name) => sets.every((set) => set.has(name)));
}

function withNew(names: readonly string[], others: readonly string[]): string[] {
  const known = new Set(names);
  const joined = [...names];
  for (const [at, name] of others.entries())
    if (!known.has(name)) joined.splice(joined.indexOf(others[at - 1] ?? "") + 1, 0, name);
  return joined;
}
