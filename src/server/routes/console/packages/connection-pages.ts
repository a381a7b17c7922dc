// The connections to the company's git hosts in the console.
import type { Console } from "../../../console/console.ts";
import { connectionsPage } from "../../../console/packages/connections-page.tsx";
import { CONNECTIONS_PATH } from "../../../console/packages/words.ts";
import { pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";

export function connectionPages({ router, domain }: RouteContext, console: Console) {
  const { packageSources, sourceWatch } = domain;
  return router.get(
    CONNECTIONS_PATH,
    ({ request }) =>
      console.show(request, "administrator", ({ organizationId }) =>
        connectionsPage({
          connections: packageSources.connections(organizationId).map((connection) => ({
            ...connection,
            ...packageSources.mirrors.states.of(organizationId, connection.id),
          })),
          disabled: packageSources
            .operatorView(organizationId)
            .flatMap(({ id, status, isWholeSetting }) =>
              status === "disabled" ? [id ?? (isWholeSetting ? "all" : "one without an id")] : [],
            ),
          behind: sourceWatch.behind(organizationId),
        }),
      ),
    pageRoute("showConnections", "Connections to git hosts, and packages with a newer commit"),
  );
}
