// Branding: public reads from bytes prepared once per change, and replacement by administrators.
import { Type } from "@sinclair/typebox";
import { BRANDING_URL_LENGTH_MAX, BrandingSchema, toBranding } from "../../domain/system/model.ts";
import {
  expectationOf,
  IF_MATCH,
  IF_NONE_MATCH,
  type PreparedResponse,
  prepareResponse,
  recordTag,
  respondConditionally,
} from "../http/conditional.ts";
import { DryRunParameters, isDryRun } from "../http/dry-run.ts";
import { actorOf } from "../http/exchange.ts";
import { withHeaders } from "../http/header-parameters.ts";
import { json } from "../http/responses.ts";
import { operation } from "../openapi.ts";
import type { RouteContext } from "../router.ts";

const address = Type.Optional(
  Type.Union([Type.String(), Type.Null()], {
    description: `An https URL of at most ${BRANDING_URL_LENGTH_MAX} characters; absent, null and blank clear it`,
  }),
);
const BrandingUpdate = Type.Object(
  { logo_url: address, favicon_url: address },
  { additionalProperties: false },
);

export function brandingRoutes({ router, domain }: RouteContext) {
  const { branding } = domain;
  let prepared: { revision: number; response: PreparedResponse } | undefined;

  const current = (): PreparedResponse => {
    const revision = branding.revision();
    if (prepared?.revision === revision) return prepared.response;
    const shown = toBranding(branding.current());
    const response = prepareResponse(Buffer.from(JSON.stringify(shown)), {
      contentType: "application/json",
      cacheControl: "public, no-cache",
      etag: recordTag(shown),
    });
    prepared = { revision, response };
    return response;
  };

  return router
    .get("/branding", ({ request }) => respondConditionally(request, current()), {
      requires: "nobody",
      detail: withHeaders(
        operation("getBranding", "Logo and icon of the organization", {
          tags: ["System"],
          answers: { 200: { description: "Current branding", schema: BrandingSchema } },
        }),
        IF_NONE_MATCH,
      ),
    })
    .put(
      "/admin/branding",
      async ({ request, body, query }) => {
        const update = { logoUrl: body.logo_url, faviconUrl: body.favicon_url };
        const expect = expectationOf(request, toBranding);
        if (isDryRun(query)) return json(toBranding(branding.checkUpdate(actorOf(request), update, expect)));
        const saved = toBranding(await branding.update(actorOf(request), update, expect));
        return json(saved, { headers: { etag: recordTag(saved) } });
      },
      {
        requires: "administrator",
        accepts: "json",
        query: DryRunParameters,
        body: BrandingUpdate,
        detail: withHeaders(
          operation("updateBranding", "Replace the branding", {
            tags: ["Administration"],
            answers: { 200: { description: "Saved branding", schema: BrandingSchema } },
          }),
          IF_MATCH,
        ),
      },
    );
}
