// The lists of the inventory: whole records and summaries, by page number or from a cursor on. inventory.ts has single records and
// counts.
import { type Clock, DAY_MS } from "../../../platform/clock.ts";
import type { Connection, Db } from "../../../platform/database/database.ts";
import { runSynchronously, type Steps } from "../../../platform/steps.ts";
import type { Identity } from "../../identity/service.ts";
import { offsetOf, type Page } from "../../shared/page.ts";
import {
  type OrderedRows,
  type PageWindow,
  type Place,
  pageInSteps,
  placesOf,
  RowTotals,
} from "../../shared/page-steps.ts";
import { SEARCHES_COUNTED_MAX, SORTED_ROWS_MAX, STALE_AFTER_DAYS, SUMMARIES_COUNTED_MAX } from "../limits.ts";
import { type Activity, SORTS } from "../model.ts";
import { cursorText } from "./cursor.ts";
import { type ClientQuery, type Reading, readClientQuery } from "./list-query.ts";
import {
  type InventoryRow,
  type PlaceRow,
  placesLike,
  reportsLike,
  type SummaryRow,
  summariesLike,
  type Walk,
  type WantedReports,
} from "./list-store.ts";
import { candidatesOf } from "./text-search.ts";

/** Candidates of a search that one step reads, which takes a few milliseconds. */
const CANDIDATES_AT_ONCE = 250;

export interface InventoryDependencies {
  db: Db;
  clock: Clock;
  identity: Pick<Identity, "users" | "findUserById">;
  /** @returns id of the current revision; undefined before the first start */
  revisionInForce(organizationId: string): string | undefined;
}

/** One workstation of a user, with its last report. */
export interface ClientView extends Omit<InventoryRow, "harnesses" | "packages" | "reasons"> {
  userEmail: string;
  activity: Activity;
  harnesses: readonly unknown[];
  packages: readonly unknown[];
  reasons: readonly string[];
}

/** One workstation without its reported inventory. */
export interface ClientSummary extends SummaryRow {
  userEmail: string;
  activity: Activity;
}

export interface ClientPage<View = ClientView> extends Page<View> {
  /** whether `total` is exact; otherwise there are more matching clients */
  isTotalExact: boolean;
  /** `cursor` of the next page; null on the last */
  next: string | null;
  /** null before the first revision */
  currentRevision: string | null;
}

interface PageKind<Row> {
  rowsLike(
    connection: Connection,
    organizationId: string,
    wanted: WantedReports,
    walk?: Walk,
  ): OrderedRows<Row>;
  countedMax?: number | undefined;
}

interface ReadingPage<Row> {
  wanted: WantedReports;
  rowsLike: PageKind<Row>["rowsLike"];
  window: PageWindow;
}

interface Found<Row> {
  items: Row[];
  total: number;
  isExact: boolean;
}

/** Operations in steps let the event loop turn. */
export class ClientLists {
  readonly #totals: RowTotals;

  constructor(protected readonly dependencies: InventoryDependencies) {
    this.#totals = new RowTotals(dependencies.db, "client_rows");
  }

  /** See `listInSteps`. */
  list(organizationId: string, query: ClientQuery): ClientPage {
    return runSynchronously(this.listInSteps(organizationId, query));
  }

  /**
   * @returns clients in the requested order with everything they reported; `q` searches host name, instance id and the user's
   * email address. The total is exact.
   * @throws DomainError `client.invalid`
   */
  *listInSteps(organizationId: string, query: ClientQuery): Steps<ClientPage> {
    const page = yield* this.#page(organizationId, query, { rowsLike: reportsLike });
    return { ...page, items: page.items.map((row) => this.viewOf(row)) };
  }

  /**
   * @returns clients in the requested order without their inventories; with a filter, a total above SUMMARIES_COUNTED_MAX is a bound
   * @throws DomainError `client.invalid`
   */
  *summaries(organizationId: string, query: ClientQuery): Steps<ClientPage<ClientSummary>> {
    const countedMax = query.isWalk ? undefined : SUMMARIES_COUNTED_MAX;
    const page = yield* this.#page(organizationId, query, { rowsLike: summariesLike, countedMax });
    return { ...page, items: page.items.map((row) => ({ ...row, ...this.#aboutUser(row) })) };
  }

  *#page<Row extends SummaryRow>(
    organizationId: string,
    query: ClientQuery,
    { rowsLike, countedMax = Number.POSITIVE_INFINITY }: PageKind<Row>,
  ): Steps<ClientPage<Row>> {
    const { filter, sort, after, known, isKnownExact, ...request } = readClientQuery(query, this.#reading());
    const { page, perPage } = request;
    const currentRevision = this.inForce(organizationId);
    const wanted = {
      filter,
      sort,
      inForce: currentRevision,
      byAddress: this.dependencies.identity.users.byAddress,
    };
    const offset = after ? 0 : offsetOf(request);
    const isSearch = filter.q !== undefined && Number.isFinite(countedMax);
    const max = Math.max(isSearch ? SEARCHES_COUNTED_MAX : countedMax, offset + perPage);
    const window = { after, offset, limit: perPage + 1, known, countedMax: max };
    const { items: found, total, isExact } = yield* this.#read(organizationId, { wanted, rowsLike, window });
    const items = found.slice(0, perPage);
    const [last] = items.slice(-1);
    const counted =
      known === undefined
        ? { known: isExact ? total : Math.min(total, max), isExact }
        : { known, isExact: isKnownExact };
    const place = last && { first: last.orderKey, second: last.id };
    const next = place && found.length > perPage ? cursorText(sort, { place, ...counted }) : null;
    return {
      page,
      perPage,
      total: counted.known,
      isTotalExact: counted.isExact,
      items,
      next,
      currentRevision,
    };
  }

  *#read<Row extends SummaryRow>(organizationId: string, reading: ReadingPage<Row>): Steps<Found<Row>> {
    const { wanted, rowsLike, window } = reading;
    const { read } = this.dependencies.db;
    const rows = rowsLike(read, organizationId, wanted);
    const searched = yield* this.#searched(organizationId, reading);
    if (searched) return searched;
    const isWhole = Object.values(wanted.filter).every((value) => value === undefined);
    if (isWhole) {
      const known = window.known ?? (yield* this.#totals.of(organizationId, rows));
      return { ...(yield* pageInSteps(rows, { ...window, known })), isExact: true };
    }
    const isByTime = wanted.sort.startsWith("last_seen_") || wanted.filter.userId !== undefined;
    if (!isByTime && (window.known ?? 0) <= SORTED_ROWS_MAX)
      return yield* this.#sorted(organizationId, reading);
    return exactly(yield* pageInSteps(rows, window), window);
  }

  /**
   * Reads only the rows that may contain the text of a search. If there are too many, finds the page in the order of the list;
   * a list of summaries then shows the number of matches as a bound.
   * @returns undefined if every row must be read
   */
  *#searched<Row extends SummaryRow>(
    organizationId: string,
    { wanted, rowsLike, window }: ReadingPage<Row>,
  ): Steps<Found<Row> | undefined> {
    const { q } = wanted.filter;
    const candidates = q && (yield* candidatesOf(this.dependencies, organizationId, q.text));
    const isBoundAccepted = Number.isFinite(window.countedMax);
    if (!candidates || !(candidates.isWhole || isBoundAccepted)) return undefined;
    const { read } = this.dependencies.db;
    const places: Place[] = [];
    for (let at = 0; at < candidates.ids.length; at += CANDIDATES_AT_ONCE) {
      const ids = candidates.ids.slice(at, at + CANDIDATES_AT_ONCE);
      const some = placesLike(read, organizationId, wanted, { ids });
      places.push(...some.read({}, { offset: 0, limit: ids.length }).map(placeOf));
      yield;
    }
    const total = places.length;
    if (candidates.isWhole) {
      const ids = placesOf(places, { ...window, isDescending: wanted.sort.endsWith("_desc") });
      yield;
      const items = rowsLike(read, organizationId, wanted, { ids }).read(
        {},
        { offset: 0, limit: ids.length },
      );
      return { items, total, isExact: true };
    }
    if (total <= SEARCHES_COUNTED_MAX) return undefined;
    const rows = rowsLike(read, organizationId, wanted);
    const known = window.known ?? total;
    return { ...(yield* pageInSteps(rows, { ...window, known })), total, isExact: false };
  }

  /** Finds few matching rows in the order of time and sorts them here, because any other order would read every row. */
  *#sorted<Row extends SummaryRow>(
    organizationId: string,
    { wanted, rowsLike, window }: ReadingPage<Row>,
  ): Steps<Found<Row>> {
    const { read } = this.dependencies.db;
    const { countedMax } = window;
    const rows = rowsLike(read, organizationId, wanted, "by_time");
    const found = yield* pageInSteps(rows, { offset: 0, limit: SORTED_ROWS_MAX, countedMax });
    const { total } = found;
    if (total > SORTED_ROWS_MAX) {
      const inOrder = rowsLike(read, organizationId, wanted);
      return exactly({ ...(yield* pageInSteps(inOrder, { ...window, known: total })), total }, window);
    }
    const isDescending = wanted.sort.endsWith("_desc");
    const ids = new Map(found.items.map((row) => [row.id, row]));
    const places = placesOf(found.items.map(placeOf), { ...window, isDescending });
    return { items: places.flatMap((id) => ids.get(id) ?? []), total, isExact: true };
  }

  /** @returns the number of clients, which is counted again only after clients were added or removed */
  total(organizationId: string): number {
    return runSynchronously(this.totalInSteps(organizationId));
  }

  *totalInSteps(organizationId: string): Steps<number> {
    const { byAddress } = this.dependencies.identity.users;
    const wanted = { filter: {}, sort: SORTS[0], inForce: null, byAddress };
    const rows = summariesLike(this.dependencies.db.read, organizationId, wanted);
    return yield* this.#totals.of(organizationId, rows);
  }

  protected inForce(organizationId: string): string | null {
    return this.dependencies.revisionInForce(organizationId) ?? null;
  }

  #reading(): Reading {
    const { clock, identity } = this.dependencies;
    return { nowMs: clock.nowMs(), hasAddressLike: (text) => identity.users.hasAddressLike(text) };
  }

  #aboutUser({ userId, lastSeenAtMs }: SummaryRow): Pick<ClientView, "userEmail" | "activity"> {
    const { identity, db, clock } = this.dependencies;
    const isStale = clock.nowMs() - lastSeenAtMs >= STALE_AFTER_DAYS * DAY_MS;
    const userEmail = identity.findUserById(db.read, userId)?.email ?? "";
    return { userEmail, activity: isStale ? "stale" : "recent" };
  }

  protected viewOf({ harnesses, packages, reasons, ...row }: InventoryRow): ClientView {
    return {
      ...row,
      ...this.#aboutUser(row),
      harnesses: JSON.parse(harnesses),
      packages: JSON.parse(packages),
      reasons: JSON.parse(reasons),
    };
  }
}

const placeOf = ({ orderKey, id }: PlaceRow): Place => ({ first: orderKey, second: id });

const exactly = <Row>(
  found: Omit<Found<Row>, "isExact">,
  { countedMax = Number.POSITIVE_INFINITY }: PageWindow,
): Found<Row> => ({ ...found, isExact: found.total <= countedMax });
