// Removing and revoking workstations in the console: one, those selected on a page, or all that match the filters.
import type { Selection } from "../../../domain/clients/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Values } from "../../console/list/list.ts";
import type { Equivalents } from "../../console/parts/command.tsx";
import type { Reader } from "../../console/reader.ts";
import { CLIENT_BULK, confirmOne } from "../../console/workstations/action-pages.tsx";
import { CLIENTS_PATH, clientOptions } from "../../console/workstations/client-list.tsx";
import { clientName } from "../../console/workstations/client-page.tsx";
import { ACTS, type Act } from "../../console/workstations/words.ts";
import { apiQuery, fleetFilter } from "./fleet-queries.ts";
import { type Bulk, BulkActions } from "./lists/bulk.ts";

export function createFleetActions(domain: Domain) {
  const { inventory, removals, bulkRemovals } = domain.clients;

  const bulk: Bulk<Act, Selection> = {
    view: CLIENT_BULK,
    acts: ["revoke", "remove"],
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
): Promise<Selection> {
  const { query, problems } = await fleetFilter(domain, values, reader);
  if (problems.length > 0)
    throw new DomainError("invalid", "client.invalid", problems.map(({ detail }) => detail).join("; "), {
      problems,
    });
  return { filter: query, text };
}

/** Days of a filter are in the reader's time zone, which the command and the API do not know. */
function equivalentsOf({
  act,
  count,
  selection,
}: {
  act: Act;
  count: number;
  selection: Selection;
}): Equivalents {
  const api = (body: object) => ({ method: "POST", path: `/admin/client-status/${act}`, body }) as const;
  if (selection.ids)
    return { command: ["clients", act, ...selection.ids, "--yes"], api: api({ ids: selection.ids }) };
  const { seenFromMs, seenBeforeMs, ...query } = selection.filter;
  if (seenFromMs !== undefined || seenBeforeMs !== undefined) return {};
  const filter = apiQuery({ query, sort: undefined });
  const chosen = clientOptions(filter);
  return {
    ...(chosen && chosen.length > 0 && { command: ["clients", act, ...chosen, "--yes"] }),
    api: api({ filter, expected: count }),
  };
}
