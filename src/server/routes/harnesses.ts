// The registry of supported harnesses, for whoever may read the policy: bytes made once, for they are the build's.
import { HarnessMetadata, harnessMetadata } from "../../domain/governance/document/harness-metadata.ts";
import { answerConditionally, prepareAnswer } from "../conditional.ts";
import { operation } from "../openapi.ts";
import { createRouter, type RouteContext } from "../router.ts";

export function harnessRoutes({ guard }: RouteContext) {
  const prepared = prepareAnswer(Buffer.from(JSON.stringify(harnessMetadata())), {
    contentType: "application/json",
    cacheControl: "private, no-cache",
  });
  return createRouter(guard, "harnesses").get(
    "/harness-metadata",
    ({ request }) => answerConditionally(request, prepared),
    {
      requires: "governance:read",
      detail: operation("getHarnessMetadata", "Registry of supported coding agents", {
        tags: ["Configuration"],
        answers: {
          200: { description: "Registry, static for a build of the service", schema: HarnessMetadata },
          304: { description: "Unchanged since the ETag in If-None-Match" },
        },
      }),
    },
  );
}
