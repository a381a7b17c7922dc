// Pages about the running installation that change nothing.
import type { Console } from "../../console/console.ts";
import { installationPage, SYSTEM_PATH } from "../../console/system/installation.tsx";
import { pageRoute } from "../../pages/html.ts";
import { createRouter, type RouteContext } from "../../router.ts";

/** @returns the pages of the installation */
export function installationPages({ guard, operations }: RouteContext, console: Console) {
  return createRouter(guard, "console-installation").get(
    SYSTEM_PATH,
    ({ request }) =>
      console.show(request, "administrator", async () =>
        installationPage({ diagnosis: await operations.diagnose(), machine: operations.machine() }),
      ),
    pageRoute("showInstallation", "Checks, service, disk and outgoing connections"),
  );
}
