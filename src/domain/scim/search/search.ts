// Lists and searches over one type or both: decides how each is executed. Indexed searches run immediately; searches over every
// resource go to scans.ts. search-request.ts parses requests.
import type { Connection, Db } from "../../../platform/database/database.ts";
import type { OpenSnapshot } from "../../../platform/database/snapshot.ts";
import { runSynchronously } from "../../../platform/steps.ts";
import { scimInvalid } from "../errors.ts";
import { ALWAYS, type Filter } from "../filter/model.ts";
import { isOrderIndexed } from "../filter/order-store.ts";
import { isAlways, isNever, simplified } from "../filter/simplify.ts";
import { isIndexed } from "../filter/where-store.ts";
import type { GroupStreams } from "../groups/group-streams.ts";
import { listPieces, listResponse } from "../messages/messages.ts";
import type { Shown } from "../messages/render.ts";
import { readView } from "../messages/view.ts";
import type { ListParameters, ScimCaller, ScimSettings, UserRow } from "../model.ts";
import type { AttributePath } from "../schema/attribute-path.ts";
import { renderUsers } from "../users/user-views.ts";
import { findUser, findUserByExternalId, findUserByName } from "../users/users-store.ts";
import type { ResourceTypeName } from "../wire.ts";
import { type FoundRow, type FoundRows, needsSeveralTurns, renderFound, rowsOver } from "./found-rows.ts";
import { Scans } from "./scans.ts";
import { type ListRequest, readListRequest, type SearchScope } from "./search-request.ts";

export interface SearchDependencies {
  db: Db;
  settings: Pick<ScimSettings, "baseUrl" | "pageMax" | "scanRowsMax">;
  openSnapshot: OpenSnapshot;
  streams: GroupStreams;
}

/** A ListResponse as JSON text, in pieces if it shows many members. */
export type ListJson = string | AsyncIterable<string>;

/** The query of each type; types without possible matches have none. */
interface Part {
  type: ResourceTypeName;
  organizationId: string;
  filter: Filter;
  key: AttributePath | undefined;
}

interface SearchWork {
  request: ListRequest;
  parts: readonly Part[];
  shown: Shown;
}

/** The content of a page, and the total on all pages. */
interface FoundPage {
  total: number;
  found: readonly FoundRow[];
}

/** The rows of one connection, and the number of rows of a type. */
interface Source {
  rows: Readonly<Record<ResourceTypeName, FoundRows>>;
  totalOf(part: Part): number;
}

type Find = (connection: Connection, organizationId: string, value: string) => UserRow | undefined;

/** Finds the only user that a filter can match. */
type UserLookup = (connection: Connection, organizationId: string) => UserRow | undefined;

/** by core attribute */
const FINDERS: ReadonlyMap<string, Find> = new Map([
  ["id", (connection, organizationId, id) => findUser(connection, { organizationId, id })],
  ["userName", findUserByName],
  ["externalId", findUserByExternalId],
]);

/**
 * Identity providers mostly look up one user by a unique attribute, for which one compiled statement suffices.
 * @returns undefined for other filters, and for pages without the user
 */
function userLookupIn({ filters: { User: filter }, startIndex, limit }: ListRequest): UserLookup | undefined {
  if (filter.kind !== "compare" || filter.comparator !== "eq") return undefined;
  if (startIndex > 1 || limit === 0) return undefined;
  const { path, literal } = filter;
  const find = path.extension || path.sub ? undefined : FINDERS.get(path.attribute.name);
  return find && ((connection, organizationId) => find(connection, organizationId, String(literal)));
}

export class ScimSearch {
  readonly #source: Source;
  readonly #scans: Scans;
  /** number of resources of a type and an organization, valid while the revision is the same */
  readonly #totals = new Map<string, { revision: number; total: number }>();

  constructor(private readonly dependencies: SearchDependencies) {
    this.#source = { rows: rowsOver(dependencies.db.read), totalOf: (part) => this.#totalOf(part) };
    this.#scans = new Scans(dependencies.openSnapshot);
  }

  /**
   * @returns a promise only if every resource must be read
   * @throws ScimError 400 `invalidFilter`, `invalidValue`, `tooMany`; 503
   * @source RFC 7644 section 3.4.2
   */
  list({ actor }: ScimCaller, scope: SearchScope, parameters: ListParameters): ListJson | Promise<ListJson> {
    const { pageMax, baseUrl } = this.dependencies.settings;
    const shown = { view: readView(scope, parameters), baseUrl: baseUrl() };
    const request = readListRequest(scope, parameters, pageMax);
    const { organizationId } = actor;
    const lookup = scope === "User" ? userLookupIn(request) : undefined;
    if (lookup) return this.#lookUp(lookup, { organizationId, shown });
    const parts = request.types
      .map((type) => {
        const filter = simplified(request.filters[type]);
        return { type, organizationId, filter, key: request.order?.keys[type] };
      })
      .filter(({ filter }) => !isNever(filter));
    const found = { request, parts, shown };
    return isImmediate(parts, request) ? this.#immediate(found) : this.#scan(found);
  }

  #lookUp(find: UserLookup, { organizationId, shown }: { organizationId: string; shown: Shown }): string {
    const { db } = this.dependencies;
    const resources = db.readConsistently(() => {
      const row = find(db.read, organizationId);
      return row ? renderUsers(db.read, [row], shown) : [];
    });
    return listResponse({ totalResults: resources.length, startIndex: 1, resources });
  }

  /** `readConsistently` reads pages and totals from one state; a page that takes several turns uses a snapshot. */
  #immediate({ request, parts, shown }: SearchWork): ListJson {
    const { db, streams } = this.dependencies;
    const whole = db.readConsistently(() => {
      const { total, found } = pageOf(this.#source, request, parts);
      if (needsSeveralTurns(found, shown.view)) return undefined;
      const resources = runSynchronously(renderFound(db.read, found, shown));
      return listResponse({ totalResults: total, startIndex: request.startIndex, resources });
    });
    if (whole !== undefined) return whole;
    return streams.open(function* (snapshot, give) {
      const rows = rowsOver(snapshot);
      const totalOf = ({ type, organizationId }: Part) =>
        rows[type].count({ filter: ALWAYS, organizationId });
      const { total, found } = pageOf({ rows, totalOf }, request, parts);
      yield;
      const resources = yield* renderFound(snapshot, found, shown);
      listPieces({ totalResults: total, startIndex: request.startIndex, resources }).forEach(give);
    });
  }

  /** Counting reads a whole index, so it is done once after each change. */
  #totalOf({ type, organizationId }: Pick<Part, "type" | "organizationId">): number {
    const { db } = this.dependencies;
    const revision = db.revision("access") + db.revision("provisioning");
    const known = this.#totals.get(`${type} ${organizationId}`);
    if (known?.revision === revision) return known.total;
    const total = this.#source.rows[type].count({ filter: ALWAYS, organizationId });
    this.#totals.set(`${type} ${organizationId}`, { revision, total });
    return total;
  }

  async #scan({ request, parts, shown }: SearchWork): Promise<string> {
    const scanned = parts.filter(({ filter }) => !isIndexed(filter));
    const rows = scanned.reduce((sum, part) => sum + this.#totalOf(part), 0);
    const { scanRowsMax } = this.dependencies.settings;
    if (rows > scanRowsMax) {
      const way = "filter with eq on an attribute such as id, userName, externalId or emails.value";
      const detail = `this search would read ${rows} resources, and at most ${scanRowsMax} are allowed; ${way}`;
      throw scimInvalid("tooMany", detail);
    }
    const { startIndex, limit } = request;
    const page = { offset: startIndex - 1, limit, isDescending: isDescending(request) };
    const { total, resources } = await this.#scans.run({ parts, shown, ...page });
    return listResponse({ totalResults: total, startIndex, resources });
  }
}

/** Users come before groups. */
function pageOf(source: Source, request: ListRequest, parts: readonly Part[]): FoundPage {
  const found: FoundRow[] = [];
  let total = 0;
  for (const part of parts) {
    const offset = Math.max(request.startIndex - 1 - total, 0);
    const limit = request.limit - found.length;
    const page = isAlways(part.filter) ? pageOfAll : pageOfSome;
    const slice = page(source, part, { offset, limit, isDescending: isDescending(request) });
    found.push(...slice.found);
    total += slice.total;
  }
  return { total, found };
}

interface Window {
  offset: number;
  limit: number;
  isDescending: boolean;
}

function pageOfSome({ rows }: Source, part: Part, { offset, limit, isDescending }: Window): FoundPage {
  const request = { ...part, isDescending, isBackwards: false, offset, limit };
  const found = limit === 0 ? [] : rows[part.type].page(request);
  const isEnd = found.length < limit && (found.length > 0 || offset === 0);
  return { total: isEnd ? offset + found.length : rows[part.type].count(part), found };
}

/** Starts at the nearer end, so that the last page is as fast as the first. */
function pageOfAll(
  { rows, totalOf }: Source,
  part: Part,
  { offset, limit, isDescending }: Window,
): FoundPage {
  const total = totalOf(part);
  const length = Math.min(limit, Math.max(total - offset, 0));
  if (length === 0) return { total, found: [] };
  const behind = total - offset - length;
  const isBackwards = behind < offset;
  const request = {
    ...part,
    isDescending,
    isBackwards,
    limit: length,
    offset: isBackwards ? behind : offset,
  };
  const found = rows[part.type].page(request);
  return { total, found: isBackwards ? found.reverse() : found };
}

const isDescending = ({ order }: ListRequest): boolean => order?.isDescending === true;

/** One type in its own order needs only its rows; several types are merged by comparing their keys. */
function isImmediate(parts: readonly Part[], { order }: ListRequest): boolean {
  if (!parts.every(({ filter }) => isAlways(filter) || isIndexed(filter))) return false;
  if (!order || parts.length === 0) return true;
  return parts.length === 1 && parts.every(({ filter, key }) => !isAlways(filter) || isOrdered(key));
}

const isOrdered = (key: AttributePath | undefined): boolean => key === undefined || isOrderIndexed(key);
