// The MCP servers of a document by server instead of by harness: the harnesses that have one, and the lists after it is added,
// changed or removed. Also checks lists that an administrator sends for some harnesses.

import { isDeepStrictEqual } from "node:util";
import type { Problem } from "../../../platform/errors.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import { readDraft } from "../document/draft.ts";
import { unstamped } from "../document/stamp.ts";
import type { GovernanceConfig, McpServer } from "../model.ts";
import { finalizeDocument, preventingProblems } from "./finalize.ts";
import { withExtensions } from "./ownership.ts";
import { extensionsDocument, extensionsPointer } from "./publications.ts";
import { accepted, type BaseRevisionText, parse, refused, type Validated } from "./validated.ts";

/** The unchecked servers of some harnesses; all others keep theirs. */
export type McpLists = Readonly<Record<string, readonly unknown[]>>;

/** A server, and the harnesses that have exactly this server. */
export interface PlacedServer {
  server: McpServer;
  harnesses: readonly HarnessKey[];
}

/** A requested change of a server. */
export interface ServerChange {
  /** undefined for a new one */
  former: PlacedServer | undefined;
  /** the entered server, for these harnesses; undefined removes the former one */
  next: { server: { name: string }; harnesses: readonly HarnessKey[] } | undefined;
}

type Servers = Pick<GovernanceConfig, "harnesses">;

const listOf = ({ harnesses }: Servers, key: HarnessKey): readonly McpServer[] => harnesses[key]?.mcp ?? [];

/** @returns every server, ordered by name; different servers with one name are adjacent */
export function serversIn(document: Servers): PlacedServer[] {
  const placed = Map.groupBy(
    HARNESS_KEYS.flatMap((key) => listOf(document, key).map((server) => ({ server, key }))),
    ({ server }) => server.name,
  );
  return [...placed.values()]
    .flatMap(joined)
    .toSorted((one, other) => byName(one.server.name, other.server.name));
}

/** @returns every server with that name, compared after trimming as in the check of a document */
export const serversNamed = (document: Servers, name: string): PlacedServer[] =>
  joined(
    HARNESS_KEYS.flatMap((key) =>
      listOf(document, key).flatMap((server) =>
        server.name.trim() === name.trim() ? [{ server, key }] : [],
      ),
    ),
  );

const { compare: byName } = new Intl.Collator("en");

/** Compares only servers with the same name, because a server may have a hundred variables. */
function joined(servers: readonly { server: McpServer; key: HarnessKey }[]): PlacedServer[] {
  const placed: { server: McpServer; harnesses: HarnessKey[] }[] = [];
  for (const { server, key } of servers) {
    const known = placed.find((one) => isDeepStrictEqual(one.server, server));
    if (known) known.harnesses.push(key);
    else placed.push({ server, harnesses: [key] });
  }
  return placed;
}

/**
 * @param name as for serversNamed
 * @param harness the harness of the server; undefined for the first that has one
 */
export const findServer = (
  document: Servers,
  { name, harness }: { name: string; harness?: string | undefined },
): PlacedServer | undefined =>
  serversNamed(document, name).find(
    ({ harnesses }) => harness === undefined || harnesses.some((key) => key === harness),
  );

/** @returns the harnesses where another server already has the new name of this one */
export const harnessesWithName = (document: Servers, { former, next }: ServerChange): HarnessKey[] =>
  next === undefined
    ? []
    : next.harnesses.filter((key) =>
        listOf(document, key).some(
          ({ name }) => name.trim() === next.server.name.trim() && name !== former?.server.name,
        ),
      );

/**
 * A changed server keeps its position. In a harness that has a different server with the former name, the new one replaces it.
 * @returns the lists that change
 */
export function changedLists(document: Servers, { former, next }: ServerChange): McpLists {
  const lists = HARNESS_KEYS.flatMap((key): [HarnessKey, unknown[]][] => {
    const list = listOf(document, key);
    const at = former === undefined ? -1 : list.findIndex(({ name }) => name === former.server.name);
    if (next?.harnesses.includes(key))
      return [
        [
          key,
          at === -1 ? [...list, next.server] : [...list.slice(0, at), next.server, ...list.slice(at + 1)],
        ],
      ];
    return former?.harnesses.includes(key) ? [[key, list.toSpliced(at, 1)]] : [];
  });
  return Object.fromEntries(lists);
}

/** @returns the problems of one server, with pointers into it */
export const serverProblems = (server: unknown): Problem[] =>
  readDraft({ revision: "", harnesses: { [HARNESS_KEYS[0]]: { mcp: [server] } } }).problems.map(
    ({ pointer, detail }) => ({ pointer: pointer.replace(/^(?:\/[^/]*){4}/, ""), detail }),
  );

/** @param lists McpLists as JSON @returns problems with pointers into `mcp` */
export function validateMcpLists({ lists, base, frame }: BaseRevisionText & { lists: string }): Validated {
  const mcp: Record<string, unknown> = JSON.parse(lists);
  const { document, problems } = readDraft(extensionsDocument({ baseRevision: "", packages: [], mcp }));
  const placed = (found: readonly Problem[]) => found.map(extensionsPointer(mcp, {}));
  if (problems.length > 0) return refused(placed(problems));
  const current = parse(base);
  const before = unstamped(current);
  const extensions = { packages: current.packages, harnesses: withLists(before, document) };
  const wanted = withExtensions(before, extensions, { published: before });
  const stamped = finalizeDocument(wanted, { ...frame, base: current, problems });
  const preventing = preventingProblems(problems, frame);
  return preventing.length > 0 ? refused(placed(preventing)) : accepted(stamped, current);
}

const withLists = (
  before: GovernanceConfig,
  { harnesses }: GovernanceConfig,
): GovernanceConfig["harnesses"] => {
  const keys = HARNESS_KEYS.filter((key) => before.harnesses[key] ?? harnesses[key]);
  return Object.fromEntries(
    keys.map((key) => {
      const own = before.harnesses[key] ?? { managed_config: {}, mcp: [], package_overrides: {} };
      return [key, { ...own, mcp: harnesses[key]?.mcp ?? own.mcp }];
    }),
  );
};
