// The packages of the policy in the console.
import type { Console } from "../../../console/console.ts";
import { csvRoute } from "../../../console/list/csv.ts";
import { lastPageAddress } from "../../../console/list/list.ts";
import { PACKAGE_CSV_COLUMNS, packageListPage } from "../../../console/packages/package-list.tsx";
import { PACKAGES_PATH } from "../../../console/packages/words.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { exportResponse } from "../lists/list-export.ts";
import { readAllPackages, readPackages } from "./package-reading.ts";

export function packagePages({ router, domain }: RouteContext, console: Console) {
  return router
    .get(
      PACKAGES_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { rows, problems } = await readPackages(domain, reader);
          const last = rows && lastPageAddress(reader, rows);
          if (last !== undefined) return seeOther(last);
          return packageListPage({ page: rows, problems });
        }),
      pageRoute("showPackages", "The packages of the policy as a list"),
    )
    .get(
      `${PACKAGES_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", async (reader) =>
          exportResponse(domain, reader, {
            list: "packages",
            columns: PACKAGE_CSV_COLUMNS,
            pages: [await readAllPackages(domain, reader)],
          }),
        ),
      csvRoute("downloadPackages", "The packages of the policy as a CSV file"),
    );
}
