// The workstations in the console: the list, its file, and the page of one.
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
import { clientPage } from "../../console/workstations/client-page.tsx";
import { formOperation, formRoute, pageRoute, seeOther } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";
import { createFleetActions } from "./fleet-actions.ts";
import { shownClient } from "./fleet-detail.ts";
import { readExport, readList } from "./fleet-lists.ts";
import { BULK_FORM } from "./lists/bulk.ts";
import { exportAnswer } from "./lists/list-export.ts";

/** @returns the pages of workstations */
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
    if (!pages) return seeOther(`${CLIENTS_PATH}${reader.url.search}`); // shows what is wrong with the filters
    const columns = CLIENT_CSV_COLUMNS;
    return exportAnswer(domain, reader, { list: "clients", name: "workstations", columns, pages });
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
      pageRoute("showClientPage", "One workstation, with what to do about it"),
    );
}
