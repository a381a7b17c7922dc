// The registry of supported harnesses, for callers that may read the policy; prepared once per change of the harness facts.
import { HarnessMetadata, harnessMetadata } from "../../../domain/governance/document/harness-metadata.ts";
import type { Harness } from "../../../domain/harnesses/harnesses.ts";
import { prepareResponse, respondConditionally } from "../../http/conditional.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

export function harnessRoutes({ router, domain }: RouteContext) {
  const prepared = responseOf(() => domain.harnesses.harnesses());
  return router.get("/harness-metadata", ({ request }) => respondConditionally(request, prepared()), {
    requires: "governance:read",
    detail: operation("getHarnessMetadata", "Registry of supported coding agents", {
      tags: ["Configuration"],
      answers: {
        200: {
          description: "The registry of this build, extended by the harness file of the installation",
          schema: HarnessMetadata,
        },
        304: { description: "Unchanged since the ETag in If-None-Match" },
      },
    }),
  });
}

/** @returns a function that provides the response and rebuilds it when the facts change */
function responseOf(inForce: () => readonly Harness[]) {
  let known: { harnesses: readonly Harness[]; response: ReturnType<typeof prepareResponse> } | undefined;
  return () => {
    const harnesses = inForce();
    if (known?.harnesses !== harnesses) {
      const response = prepareResponse(Buffer.from(JSON.stringify(harnessMetadata(harnesses))), {
        contentType: "application/json",
        cacheControl: "private, no-cache",
      });
      known = { harnesses, response };
    }
    return known.response;
  };
}
