// The branding of the organization in the console.
import { DomainError } from "../../../platform/errors.ts";
import type { Console } from "../../console/console.ts";
import { BRANDING_PATH, brandingPage } from "../../console/system/branding.tsx";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../pages/html.ts";
import { createRouter, type RouteContext } from "../../router.ts";

/** @returns the page of the branding and its form */
export function brandingPages({ guard, domain: { branding } }: RouteContext, console: Console) {
  return createRouter(guard, "console-branding")
    .get(
      BRANDING_PATH,
      ({ request }) =>
        console.show(request, "administrator", ({ organizationId }) =>
          brandingPage({ branding: branding.get(organizationId) }),
        ),
      pageRoute("showBranding", "Logo and icon of the organization"),
    )
    .post(
      BRANDING_PATH,
      ({ request, body }) =>
        console.act(request, body, { needs: "administrator", back: BRANDING_PATH }, async (reader) => {
          const entered = { logoUrl: body.logo_url ?? null, faviconUrl: body.favicon_url ?? null };
          try {
            await branding.update(reader.actor, entered);
          } catch (error) {
            if (!(error instanceof DomainError) || error.kind !== "invalid") throw error;
            const { problems } = error;
            return brandingPage({ branding: branding.get(reader.organizationId), entered, problems });
          }
          return { to: BRANDING_PATH, notice: "The branding is saved." };
        }),
      formRoute(
        formOf({ csrf: FormField, by: FormField, logo_url: FormField, favicon_url: FormField }),
        formOperation("sendBranding", "Replaces the addresses of logo and icon"),
      ),
    );
}
