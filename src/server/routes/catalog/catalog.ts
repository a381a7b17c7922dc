// The package catalog for administrators, prepared as bytes once per catalog revision.
import { Type } from "@sinclair/typebox";
import { ManagedPackage } from "../../../domain/catalog/model.ts";
import { answerConditionally, type PreparedAnswer, prepareAnswer } from "../../http/conditional.ts";
import { principalOf } from "../../http/exchange.ts";
import { operation } from "../../openapi.ts";
import { createRouter, type RouteContext } from "../../router.ts";

export function catalogRoutes({ guard, domain }: RouteContext) {
  const { catalog } = domain;
  let prepared: { revision: number; organizationId: string; answer: PreparedAnswer } | undefined;

  const current = (organizationId: string): PreparedAnswer => {
    const revision = catalog.revision();
    if (prepared?.revision === revision && prepared.organizationId === organizationId) return prepared.answer;
    const bytes = catalog.listing(organizationId);
    const answer = prepareAnswer(bytes, {
      contentType: "application/json",
      cacheControl: "private, no-cache",
    });
    prepared = { revision, organizationId, answer };
    return answer;
  };

  return createRouter(guard, "catalog").get(
    "/admin/package-catalog",
    async ({ request }) => answerConditionally(request, current(principalOf(request).organizationId)),
    {
      requires: "administrator",
      detail: operation("listPackageCatalog", "Curated packages offered to administrators", {
        tags: ["Administration"],
        answers: {
          200: {
            description: "Catalog in its own order, possibly empty",
            schema: Type.Array(ManagedPackage),
          },
          304: { description: "Unchanged since the ETag in If-None-Match" },
        },
      }),
    },
  );
}
