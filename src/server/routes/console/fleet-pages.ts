// The workstations in the console: the list, its file, and the page of one.
import type { ClientPage, ClientQuery, ClientSummary } from "../../../domain/clients/service.ts";
import { WALK_PAGE_MAX } from "../../../domain/shared/page.ts";
import { runInTurns } from "../../../platform/steps.ts";
import type { Console } from "../../console/console.ts";
import {
  CLIENT_CSV_COLUMNS,
  CLIENTS_CSV_PATH,
  CLIENTS_PATH,
  type ClientRow,
  clientListPage,
} from "../../console/fleet/client-list.tsx";
import { addressWith } from "../../console/list/address.ts";
import { csvAnswer } from "../../console/list/csv.ts";
import { found, hasAllFilters, listValues } from "../../console/list/list.ts";
import { lastPage } from "../../console/list/list-view.tsx";
import type { Reader } from "../../console/reader.ts";
import { pageRoute, seeOther } from "../../pages/html.ts";
import { createRouter, type RouteContext } from "../../router.ts";
import { apiQuery, fleetFilter, fleetPlace } from "./fleet-queries.ts";

/** @returns the pages of workstations */
export function fleetPages({ guard, domain }: RouteContext, console: Console) {
  const { inventory } = domain.clients;

  const withSequences = (organizationId: string) => {
    const revisions = domain.governance.revisions.list(organizationId);
    const sequences = new Map(revisions.map(({ id, sequence }) => [id, sequence]));
    return (row: ClientSummary): ClientRow => ({
      ...row,
      sequence: row.configRevision === null ? undefined : sequences.get(row.configRevision),
    });
  };

  const listPage = async (reader: Reader) => {
    const { organizationId, url } = reader;
    const values = listValues(reader);
    const { query, problems: wrong } = await fleetFilter(domain, values, reader);
    const { rows: read, problems } = await found(
      () => runInTurns(inventory.summaries(organizationId, { ...query, ...fleetPlace(values) })),
      wrong,
    );
    if (read && isPastEnd(read)) return seeOther(addressWith(url, { page: lastPage(read) }));
    const facets =
      read && hasAllFilters(values) ? await runInTurns(inventory.facets(organizationId, {})) : undefined;
    const page = read && { ...read, items: read.items.map(withSequences(organizationId)) };
    const asked = apiQuery({ query, sort: values.sort });
    return clientListPage({ values, page, query: asked, facets, problems });
  };

  /** Each page goes on behind the last row of the one before it. */
  async function* walk(organizationId: string, query: ClientQuery) {
    const toRow = withSequences(organizationId);
    let place: Pick<ClientQuery, "after" | "known"> = {};
    for (;;) {
      const wanted = { ...query, ...place, isWalk: true, perPage: WALK_PAGE_MAX };
      const { items, total, next } = await runInTurns(inventory.summaries(organizationId, wanted));
      yield items.map(toRow);
      const after = items.at(-1);
      if (next === null || !after) return;
      place = { after, known: total };
    }
  }

  return createRouter(guard, "console-fleet")
    .get(
      CLIENTS_PATH,
      ({ request }) => console.show(request, "administrator", listPage),
      pageRoute("showClientsPage", "The workstations as a list"),
    )
    .get(
      CLIENTS_CSV_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { organizationId, actor, url } = reader;
          const values = listValues(reader);
          const { query, problems: wrong } = await fleetFilter(domain, values, reader);
          const wanted = { ...query, sort: fleetPlace(values).sort };
          const { problems } = await found(
            () => runInTurns(inventory.summaries(organizationId, { ...wanted, perPage: 1, known: 0 })),
            wrong,
          );
          if (problems) return seeOther(`${CLIENTS_PATH}${url.search}`);
          return csvAnswer({
            name: "workstations.csv",
            columns: CLIENT_CSV_COLUMNS,
            pages: walk(organizationId, wanted),
            recordExport: (rows) =>
              domain.exports.record(actor, { list: "clients", filter: url.search.slice(1), rows }),
          });
        }),
      pageRoute("downloadClients", "The workstations as a CSV file"),
    );
}

/** @returns whether the page has no rows because it lies behind the last one */
const isPastEnd = ({ items, page, total, isTotalExact }: ClientPage<ClientSummary>): boolean =>
  items.length === 0 && page > 1 && total > 0 && isTotalExact;
