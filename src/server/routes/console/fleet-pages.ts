// The workstations in the console: the list, its file, and the page of one.
import type { LoginView } from "../../../domain/access/logins/logins.ts";
import type { ClientView } from "../../../domain/clients/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import { parseVersion } from "../../../domain/shared/exact-version.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Console } from "../../console/console.ts";
import { csvRoute } from "../../console/list/csv.ts";
import { lastPageAddress, listValues } from "../../console/list/list.ts";
import type { Reader } from "../../console/reader.ts";
import {
  CLIENT_CSV_COLUMNS,
  CLIENTS_ACTION_PATH,
  CLIENTS_CSV_PATH,
  CLIENTS_PATH,
  clientListPage,
} from "../../console/workstations/client-list.tsx";
import { clientPage, type ShownClient } from "../../console/workstations/client-page.tsx";
import { comparisonOf, type Explain } from "../../console/workstations/comparison.ts";
import { formOperation, formRoute, pageRoute, seeOther } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";
import { createFleetActions } from "./fleet-actions.ts";
import { readExport, readList } from "./fleet-lists.ts";
import { BULK_FORM } from "./lists/bulk.ts";
import { exportResponse } from "./lists/list-export.ts";

/** @throws DomainError `client.not_found` */
async function shownClient(
  domain: Domain,
  { organizationId, mayAdminister }: Reader,
  id: string,
): Promise<ShownClient> {
  const { inventory } = domain.clients;
  const client = inventory.byId(organizationId, id);
  return {
    client,
    sequence:
      client.configRevision === null
        ? undefined
        : domain.governance.revisions.find(organizationId, client.configRevision)?.sequence,
    current: domain.governance.revisions.current(organizationId),
    comparison: comparisonOf(client, await explainTo(domain, client)),
    login: loginOf(domain, client),
    companions: inventory.companions(client),
    mayAdminister,
  };
}

/** Harnesses and versions come from the report, so they may be unknown. Before the first policy, there is nothing to explain. */
async function explainTo({ governance }: Domain, { organizationId, userId }: ClientView): Promise<Explain> {
  if (!governance.revisions.current(organizationId)) return () => undefined;
  const explain = await governance.explainer({ organizationId });
  return (harness, reported) => {
    const version = parseVersion(reported) ? reported : undefined;
    return orUndefined(() => explain({ userId, harness, version }));
  };
}

const loginOf = ({ access }: Domain, { grantId, loginSessionId }: ClientView): LoginView | undefined =>
  orUndefined(() => access.logins.show(grantId ?? loginSessionId));

function orUndefined<Value>(find: () => Value): Value | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

export function fleetPages({ router, domain }: RouteContext, console: Console) {
  const actions = createFleetActions(domain);
  const listPage = async (reader: Reader) => {
    const { page, ...read } = await readList(domain, reader);
    const last = page && lastPageAddress(reader, page);
    if (last) return seeOther(last);
    return clientListPage({ ...read, page, values: listValues(reader), mayAdminister: reader.mayAdminister });
  };

  const file = async (reader: Reader) => {
    const pages = await readExport(domain, reader);
    if (!pages) return seeOther(`${CLIENTS_PATH}${reader.url.search}`); // shows the problems of the filters
    const columns = CLIENT_CSV_COLUMNS;
    return exportResponse(domain, reader, { list: "clients", name: "workstations", columns, pages });
  };

  return router
    .get(
      CLIENTS_PATH,
      ({ request }) => console.show(request, "administrator", listPage),
      pageRoute("showClientsPage", "The workstations as a list"),
    )
    .get(
      CLIENTS_CSV_PATH,
      ({ request }) => console.show(request, "administrator", file),
      csvRoute("downloadClients", "The workstations as a CSV file"),
    )
    .get(
      CLIENTS_ACTION_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => actions.confirm(reader)),
      pageRoute("showClientsActionPage", "Asks before workstations are removed or revoked"),
    )
    .post(
      CLIENTS_ACTION_PATH,
      ({ request, body }) =>
        console.act(request, body, { needs: "administrator", back: CLIENTS_PATH }, (reader) =>
          actions.run(reader, body),
        ),
      formRoute(BULK_FORM, formOperation("sendClientsAction", "Removes or revokes workstations")),
    )
    .get(
      `${CLIENTS_PATH}/:id`,
      ({ request, params }) =>
        console.show(request, "administrator", async (reader) =>
          clientPage(await shownClient(domain, reader, params.id)),
        ),
      pageRoute("showClientPage", "One workstation, with remedies"),
    );
}
