// The package catalog for administrators, prepared as bytes once per catalog revision.
import { Type } from "@sinclair/typebox";
import pLimit from "p-limit";
import { ManagedPackage } from "../../../domain/catalog/model.ts";
import { runInTurns, runSynchronously } from "../../../platform/steps.ts";
import { type PreparedResponse, prepareResponse, respondConditionally } from "../../http/conditional.ts";
import { principalOf } from "../../http/exchange.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const HEADERS = { contentType: "application/json", cacheControl: "private, no-cache" };
/** Maximum number of attempts to read a changing catalog. The last one reads it in one step. */
const ATTEMPTS_MAX = 5;

export function catalogRoutes({ router, domain }: RouteContext) {
  const { catalog } = domain;
  let prepared: { revision: number; organizationId: string; response: PreparedResponse } | undefined;
  const one = pLimit(1);

  const find = (organizationId: string): PreparedResponse | undefined =>
    prepared?.revision === catalog.revision() && prepared.organizationId === organizationId
      ? prepared.response
      : undefined;

  /** The entries must come from one revision. If the catalog changes in the meantime, they are read again. */
  const prepare = async (organizationId: string): Promise<PreparedResponse> => {
    for (let attempt = 1; ; attempt++) {
      const known = find(organizationId);
      if (known) return known;
      const revision = catalog.revision();
      const steps = catalog.listing(organizationId);
      const bytes = attempt < ATTEMPTS_MAX ? await runInTurns(steps) : runSynchronously(steps);
      prepared = { revision, organizationId, response: prepareResponse(bytes, HEADERS) };
      if (attempt === ATTEMPTS_MAX) return prepared.response;
    }
  };

  return router.get(
    "/admin/package-catalog",
    async ({ request }) => {
      const { organizationId } = principalOf(request);
      return respondConditionally(request, find(organizationId) ?? (await one(prepare, organizationId)));
    },
    {
      requires: "administrator",
      detail: operation("listPackageCatalog", "Curated packages offered to administrators", {
        tags: ["Administration"],
        answers: {
          200: {
            description: "Packages in catalog order; may be empty",
            schema: Type.Array(ManagedPackage),
          },
          304: { description: "Unchanged since the ETag in If-None-Match" },
        },
      }),
    },
  );
}
