// The registry of supported harnesses, for callers that may read the policy; prepared once per change of the harness facts.
import { HarnessMetadata, harnessMetadata } from "../../../domain/governance/document/harness-metadata.ts";
import type { Harness } from "../../../domain/harnesses/harnesses.ts";
import { answerConditionally, prepareAnswer } from "../../http/conditional.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

export function harnessRoutes({ router, domain }: RouteContext) {
  const prepared = answerOf(() => domain.harnesses.harnesses());
  return router.get("/harness-metadata", ({ request }) => answerConditionally(request, prepared()), {
    requires: "governance:read",
    detail: operation("getHarnessMetadata", "Registry of supported coding agents", {
      tags: ["Configuration"],
      answers: {
        200: {
          description: "Registry in force: of this build, extended by the harness file of the installation",
          schema: HarnessMetadata,
        },
        304: { description: "Unchanged since the ETag in If-None-Match" },
      },
    }),
  });
}

/** @returns a function that provides the answer and rebuilds it when the facts change */
function answerOf(inForce: () => readonly Harness[]) {
  let known: { harnesses: readonly Harness[]; answer: ReturnType<typeof prepareAnswer> } | undefined;
  return () => {
    const harnesses = inForce();
    if (known?.harnesses !== harnesses) {
      const answer = prepareAnswer(Buffer.from(JSON.stringify(harnessMetadata(harnesses))), {
        contentType: "application/json",
        cacheControl: "private, no-cache",
      });
      known = { harnesses, answer };
    }
    return known.answer;
  };
}
