// Reads the list of workstations for its page and its file. Lists read summaries, never a reported inventory.
import type {
  ClientFacets,
  ClientPage,
  ClientQuery,
  ClientSummary,
} from "../../../domain/clients/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import { WALK_PAGE_MAX } from "../../../domain/shared/page.ts";
import type { Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { found, hasAllFilters, listValues } from "../../console/list/list.ts";
import type { Reader } from "../../console/reader.ts";
import type { ClientRow } from "../../console/workstations/client-list.tsx";
import { apiQuery, fleetFilter, fleetPlace } from "./fleet-queries.ts";

export interface ReadList {
  /** undefined if there are problems */
  page: ClientPage<ClientRow> | undefined;
  /** choices of the rare filters; undefined while they are closed */
  facets: ClientFacets | undefined;
  problems: readonly Problem[] | undefined;
  /** in the format of the API */
  query: Record<string, string>;
}

export async function readList(domain: Domain, reader: Reader): Promise<ReadList> {
  const { organizationId } = reader;
  const { inventory } = domain.clients;
  const values = listValues(reader);
  const { query, problems: wrong } = await fleetFilter(domain, values, reader);
  const { rows, problems } = await found(
    () => runInTurns(inventory.summaries(organizationId, { ...query, ...fleetPlace(values) })),
    wrong,
  );
  const isOpen = rows !== undefined && hasAllFilters(values);
  return {
    page: rows && { ...rows, items: rows.items.map(withSequences(domain, organizationId)) },
    facets: isOpen ? await runInTurns(inventory.facets(organizationId, {})) : undefined,
    problems,
    query: apiQuery(query, values, reader),
  };
}

/** @returns all rows for the reader's address, page by page; undefined for invalid filters */
export async function readExport(
  domain: Domain,
  reader: Reader,
): Promise<AsyncIterable<readonly ClientRow[]> | undefined> {
  const { organizationId } = reader;
  const values = listValues(reader);
  const { query, problems: wrong } = await fleetFilter(domain, values, reader);
  const wanted = { ...query, sort: fleetPlace(values).sort };
  const check = { ...wanted, perPage: 1, known: 0 };
  const { problems } = await found(
    () => runInTurns(domain.clients.inventory.summaries(organizationId, check)),
    wrong,
  );
  return problems ? undefined : walk(domain, organizationId, wanted);
}

/** Each page continues after the last row of the previous one. */
async function* walk(domain: Domain, organizationId: string, query: ClientQuery) {
  const toRow = withSequences(domain, organizationId);
  let place: Pick<ClientQuery, "after" | "known"> = {};
  for (;;) {
    const wanted = { ...query, ...place, isWalk: true, perPage: WALK_PAGE_MAX };
    const { items, total, next } = await runInTurns(
      domain.clients.inventory.summaries(organizationId, wanted),
    );
    yield items.map(toRow);
    const after = items.at(-1);
    if (next === null || !after) return;
    place = { after, known: total };
  }
}

type Reported = Pick<ClientSummary, "configRevision">;

/** @returns a function that adds the number of the reported revision, if it is among the newest */
export function withSequences({ governance }: Domain, organizationId: string) {
  const revisions = governance.revisions.list(organizationId);
  const sequences = new Map(revisions.map(({ id, sequence }) => [id, sequence]));
  return <Row extends Reported>(row: Row): Row & Pick<ClientRow, "sequence"> => ({
    ...row,
    sequence: row.configRevision === null ? undefined : sequences.get(row.configRevision),
  });
}
