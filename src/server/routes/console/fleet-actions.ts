// Removes and revokes workstations in the console: one, those selected on a page, or all that match the filters.
import type { Selection } from "../../../domain/clients/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Values } from "../../console/list/list.ts";
import { type Equivalents, optionsOrAll } from "../../console/parts/command.tsx";
import type { Reader } from "../../console/reader.ts";
import { CLIENT_BULK, confirmOne } from "../../console/workstations/action-pages.tsx";
import { CLIENTS_PATH, clientFilters, clientOptions } from "../../console/workstations/client-list.tsx";
import { clientName } from "../../console/workstations/client-page.tsx";
import { ACTS, type Act } from "../../console/workstations/words.ts";
import { apiQuery, fleetFilter } from "./fleet-queries.ts";
import { type Bulk, BulkActions } from "./lists/bulk.ts";

/** A selection, with its filter in the format of the API, for the equivalent command. */
type Chosen = Selection & { query?: Values };

export function createFleetActions(domain: Domain) {
  const { inventory, removals, bulkRemovals } = domain.clients;

  const bulk: Bulk<Act, Chosen> = {
    view: CLIENT_BULK,
    acts: ["revoke", "remove"],
    filters: clientFilters(),
    selectionOf: async (reader, chosen) =>
      "ids" in chosen ? chosen : await filteredBy(domain, reader, chosen),
    count: ({ organizationId }, selection) => bulkRemovals.count(organizationId, selection),
    slice: ({ actor }, { act, ...slice }) => bulkRemovals.slice(actor, { removal: act, ...slice }),
    equivalents: equivalentsOf,

    confirmOne({ organizationId, actor }, act, id) {
      const client = inventory.byId(organizationId, id);
      const isOwn = actor.credential === `login_session:${client.loginSessionId}`;
      return confirmOne({ act, client, companions: inventory.companions(client), isOwn });
    },

    async runOne({ actor }, act, id) {
      const name = clientName(inventory.byId(actor.organizationId, id));
      await removals[act](actor, id);
      return { to: CLIENTS_PATH, notice: `${name} is ${ACTS[act].past}.` };
    },
  };
  return new BulkActions(bulk);
}

/** @throws DomainError `client.invalid` for an invalid filter */
async function filteredBy(
  domain: Domain,
  reader: Reader,
  { values, text }: { values: Values; text: string },
): Promise<Chosen> {
  const { query, problems } = await fleetFilter(domain, values, reader);
  const { sort: _, ...filters } = values;
  if (problems.length > 0)
    throw new DomainError("invalid", "client.invalid", problems.map(({ detail }) => detail).join("; "), {
      problems,
    });
  return { filter: query, text, query: apiQuery(query, filters, reader) };
}

function equivalentsOf({
  act,
  count,
  selection,
}: {
  act: Act;
  count: number;
  selection: Chosen;
}): Equivalents {
  const api = (body: object) => ({ method: "POST", path: `/admin/client-status/${act}`, body }) as const;
  if (selection.ids) return { command: ["clients", act, ...selection.ids], api: api({ ids: selection.ids }) };
  const { query = {} } = selection;
  const { stale, not_seen_for_days: days, ...texts } = query;
  const filter = {
    ...texts,
    ...(stale !== undefined && { stale: stale === "true" }),
    ...(days !== undefined && { not_seen_for_days: Number(days) }),
  };
  return {
    command: ["clients", act, ...optionsOrAll(clientOptions(query))],
    api: api({ filter, expected: count }),
  };
}
