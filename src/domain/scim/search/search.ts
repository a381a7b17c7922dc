// Lists and searches over one type or both: decides how each is answered. What an index finds is read at once; what has
// to look at every resource goes to scans.ts. What a request means is read in search-request.ts.
import type { Db } from "../../../platform/database/database.ts";
import type { OpenSnapshot } from "../../../platform/database/snapshot.ts";
import { scimInvalid } from "../errors.ts";
import { ALWAYS, type Filter } from "../filter/model.ts";
import { isOrderIndexed } from "../filter/order-store.ts";
import { isAlways, isNever, simplified } from "../filter/simplify.ts";
import { isIndexed } from "../filter/where-store.ts";
import { listResponse } from "../messages/messages.ts";
import { readView, type View } from "../messages/view.ts";
import type { AskedList, ScimCaller, ScimSettings } from "../model.ts";
import type { AttributePath } from "../schema/attribute-path.ts";
import type { ResourceTypeName } from "../wire.ts";
import { Scans, type Slice } from "./scans.ts";
import { type ListRequest, readListRequest, type SearchScope } from "./search-request.ts";
import { type Renderers, type Texts, textsOver } from "./search-texts.ts";

export interface SearchDependencies extends Renderers {
  db: Db;
  settings: Pick<ScimSettings, "baseUrl" | "pageMax" | "scanRowsMax">;
  openSnapshot: OpenSnapshot;
}

export type ScimSearch = Search;

/** @returns the searches of the area; made once, when it is joined */
export const createSearch = (dependencies: SearchDependencies): ScimSearch => new Search(dependencies);

/** What is asked of one type; types of which nothing can match have none. */
interface Part {
  type: ResourceTypeName;
  organizationId: string;
  filter: Filter;
  key: AttributePath | undefined;
}

interface Asked {
  request: ListRequest;
  parts: readonly Part[];
  view: View;
}

class Search {
  readonly #texts: Readonly<Record<ResourceTypeName, Texts>>;
  readonly #scans: Scans;
  /** resources of a type and an organization, while the revision is the same */
  readonly #totals = new Map<string, { revision: number; total: number }>();

  constructor(private readonly own: SearchDependencies) {
    this.#texts = textsOver(own.db.read, own);
    this.#scans = new Scans(own.openSnapshot, own);
  }

  /**
   * @returns a ListResponse as JSON text; a promise only where every resource has to be looked at
   * @throws ScimError 400 `invalidFilter`, `invalidValue`, `tooMany`; 503
   * @source RFC 7644 sections 3.4.2 and 3.4.3
   */
  list({ actor }: ScimCaller, scope: SearchScope, asked: AskedList): string | Promise<string> {
    const view = readView(scope, asked);
    const request = readListRequest(scope, asked, this.own.settings.pageMax);
    const { organizationId } = actor;
    const parts = request.types
      .map((type) => {
        const filter = simplified(request.filters[type]);
        return { type, organizationId, filter, key: request.order?.keys[type] };
      })
      .filter(({ filter }) => !isNever(filter));
    const answer = (slice: Slice): string => response(request, slice);
    if (isImmediate(parts, request)) return answer(this.#immediate({ request, parts, view }));
    return this.#scan({ request, parts, view }).then(answer);
  }

  /** Users come before groups; `readConsistently` makes pages and totals those of one moment. */
  #immediate({ request, parts, view }: Asked): Slice {
    return this.own.db.readConsistently(() => {
      const resources: string[] = [];
      let total = 0;
      for (const part of parts) {
        const offset = Math.max(request.startIndex - 1 - total, 0);
        const limit = request.limit - resources.length;
        const slice = this.#slice(part, { offset, limit, view, isDescending: isDescending(request) });
        resources.push(...slice.resources);
        total += slice.total;
      }
      return { total, resources };
    });
  }

  #slice(part: Part, asked: Window): Slice {
    if (isAlways(part.filter)) return this.#sliceOfAll(part, asked);
    const { offset, limit, view, isDescending } = asked;
    const rows = { ...part, isDescending, isBackwards: false, offset, limit };
    const resources = limit === 0 ? [] : this.#texts[part.type].page(rows, view);
    const isEnd = resources.length < limit && (resources.length > 0 || offset === 0);
    const total = isEnd ? offset + resources.length : this.#texts[part.type].count(part);
    return { total, resources };
  }

  /** Begins at the nearer end, so that the last page costs what the first does. */
  #sliceOfAll(part: Part, { offset, limit, view, isDescending }: Window): Slice {
    const total = this.#totalOf(part);
    const length = Math.min(limit, Math.max(total - offset, 0));
    if (length === 0) return { total, resources: [] };
    const behind = total - offset - length;
    const isBackwards = behind < offset;
    const rows = { ...part, isDescending, isBackwards, limit: length, offset: isBackwards ? behind : offset };
    const resources = this.#texts[part.type].page(rows, view);
    return { total, resources: isBackwards ? resources.reverse() : resources };
  }

  /** Counting means reading an index to its end, so it is done once after each change. */
  #totalOf({ type, organizationId }: Pick<Part, "type" | "organizationId">): number {
    const { db } = this.own;
    const revision = db.revision("access") + db.revision("provisioning");
    const known = this.#totals.get(`${type} ${organizationId}`);
    if (known?.revision === revision) return known.total;
    const total = this.#texts[type].count({ filter: ALWAYS, organizationId });
    this.#totals.set(`${type} ${organizationId}`, { revision, total });
    return total;
  }

  async #scan({ request, parts, view }: Asked): Promise<Slice> {
    const scanned = parts.filter(({ filter }) => !isIndexed(filter));
    const rows = scanned.reduce((sum, part) => sum + this.#totalOf(part), 0);
    const { scanRowsMax } = this.own.settings;
    if (rows > scanRowsMax) {
      const way = "filter with eq on an attribute such as id, userName, externalId or emails.value";
      const detail = `this search would look at ${rows} resources, and ${scanRowsMax} are allowed: ${way}`;
      throw scimInvalid("tooMany", detail);
    }
    const page = { offset: request.startIndex - 1, limit: request.limit };
    return await this.#scans.run({ parts, view, isDescending: isDescending(request), ...page });
  }
}

interface Window {
  offset: number;
  limit: number;
  view: View;
  isDescending: boolean;
}

const isDescending = ({ order }: ListRequest): boolean => order?.isDescending === true;

/** One type in an order of its own needs no more than its rows; several are in one only when their keys are compared. */
function isImmediate(parts: readonly Part[], { order }: ListRequest): boolean {
  if (!parts.every(({ filter }) => isAlways(filter) || isIndexed(filter))) return false;
  if (!order || parts.length === 0) return true;
  return parts.length === 1 && parts.every(({ filter, key }) => !isAlways(filter) || isOrdered(key));
}

const isOrdered = (key: AttributePath | undefined): boolean => key === undefined || isOrderIndexed(key);

const response = ({ startIndex }: ListRequest, { total, resources }: Slice): string =>
  listResponse({ totalResults: total, startIndex, resources });
